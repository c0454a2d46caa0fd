from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.prompt import detect_language


@pytest.mark.parametrize(
    "text",
    [
        "图中有几只鸟？",
        "求 x",
        "根据 Figure 2 中的 ROC curve, 哪个 model 的 AUC 最高？",
        r"若 $\frac{1}{2}x^2+\sqrt{3}y=\log_{2}(z)$，求 x",
        "<image 1> 这是什么？",
        "“Hello World” 是什么意思？",
        "图中的「こんにちは」是什么意思？",
        "《红楼梦》",
        "𠀀𠀁是什么字",
    ],
)
def test_question_asked_in_chinese(text: str) -> None:
    assert detect_language(text) == "zh"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 + 5 = ?",
        "How many birds are there?",
        'What does "欢迎光临寒舍请多多关照" mean?',
        "What does 你好 mean?",
        "Is the character 山 written in the picture?",
        "この図に鳥は何羽いますか？",
        "日本語の質問",
        "그림에 새가 몇 마리 있습니까? 鳥",
        "Сколько птиц на картинке 鸟?",
        "Combien d'oiseaux à côté de l'arbre 树?",
    ],
)
def test_question_asked_in_another_language(text: str) -> None:
    assert detect_language(text) == "en"


@given(st.text())
def test_every_text_has_a_language(text: str) -> None:
    assert detect_language(text) in ("en", "zh")


@given(st.text(alphabet=st.characters(max_codepoint=0x24F)))
def test_text_without_ideographs_is_never_chinese(text: str) -> None:
    assert detect_language(text) == "en"
