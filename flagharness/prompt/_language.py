"""In which language a question is asked."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["en", "zh"]

_KANA_OR_HANGUL = re.compile("[ぁ-ゖァ-ヺｦ-ﾝᄀ-ᇿㄱ-ㆎ가-힣]")
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_QUOTED = re.compile('"[^"]*"|“[^”]*”|「[^」]*」|《[^》]*》')
_NOT_PROSE = re.compile(r"<[^<>]*>|\\[A-Za-z]+")  # image marks, tags, LaTeX commands
_WORD = re.compile(r"[^\W\d_]{2,}")


def detect_language(text: str) -> Language:
    """Tell whether a question is asked in Chinese (``"zh"``) or not (``"en"``).

    It is Chinese if it has more ideographs than words of other scripts, and neither kana nor hangul. Quoted
    passages are what a question is about, so they count only if there is nothing else. Words are runs of at
    least two letters; image marks, tags and LaTeX commands are none.

    Example:
        >>> detect_language("图中的 ROC 曲线说明了什么?")
        'zh'
        >>> detect_language('What does "欢迎光临" mean?')
        'en'
        >>> detect_language("この図は何ですか")
        'en'
    """
    prose = _NOT_PROSE.sub(" ", text)
    unquoted = _QUOTED.sub(" ", prose)
    if _WORD.search(unquoted) or _IDEOGRAPH.search(unquoted):
        prose = unquoted
    if _KANA_OR_HANGUL.search(prose):
        return "en"
    ideographs = len(_IDEOGRAPH.findall(prose))
    words = len(_WORD.findall(_IDEOGRAPH.sub(" ", prose)))
    return "zh" if ideographs > words else "en"
