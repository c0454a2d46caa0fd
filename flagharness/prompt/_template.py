"""From an annotation to the text that is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from flagharness.errors import ConfigError, did_you_mean
from flagharness.prompt._callable import PromptCallable
from flagharness.prompt._instructions import default_instruction
from flagharness.prompt._language import Language, detect_language
from flagharness.prompt._question import question_without_options
from flagharness.registry import PROMPTS

Piece = str | Callable[..., Any] | None

_KEYWORDS = ("pre_prompt", "post_prompt", "examples", "prompt_func", "language")


@PROMPTS.register_module()
class PromptTemplate:
    """The parts around a question.

    A prompt is ``examples``, ``pre_prompt`` and the question, with nothing in between, then a new line and
    ``post_prompt``; whitespace at both ends is removed.

    Args:
        pre_prompt: Text, or a function that returns one (see below). Default: none.
        post_prompt: The same. Default: an instruction by question type; ``""`` for none.
        examples: The same. Default: none.
        prompt_func: A function whose text replaces all of the above.
        language: Of the default instruction: ``"en"``, ``"zh"``, or None to follow the question.

    A function is called with ``annotation=``, whose ``question`` holds the options already; one written with
    other parameters gets the annotation fields of these names. None counts as no text.

    Raises:
        ConfigError: If a part has the wrong type, or for an unknown keyword.

    Example:
        >>> template = PromptTemplate(pre_prompt="Look closely. ")
        >>> print(template.build_prompt({"question": "Is it red?", "question_type": "yes-no"}))
        Look closely. Is it red?
        Answer yes or no.
    """

    def __init__(
        self,
        pre_prompt: Piece = None,
        post_prompt: Piece = None,
        examples: Piece = None,
        prompt_func: Callable[..., Any] | None = None,
        language: Language | None = None,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            raise ConfigError(
                f"prompt_template has no setting {name!r}.{did_you_mean(name, _KEYWORDS)} "
                f"Known: {', '.join(_KEYWORDS)}."
            )
        if language not in (None, *get_args(Language)):
            raise ConfigError(f"prompt_template.language must be 'en', 'zh' or None, got {language!r}")
        if isinstance(prompt_func, str):
            raise ConfigError("prompt_template.prompt_func must be a function, got a text: use pre_prompt")
        self._pre_prompt = _piece("pre_prompt", pre_prompt)
        self._post_prompt = _piece("post_prompt", post_prompt)
        self._examples = _piece("examples", examples)
        self._prompt_func = _piece("prompt_func", prompt_func)
        self._language = language

    def build_prompt(self, annotation: Mapping[str, Any]) -> str:
        """The prompt of one annotation, image marks still in it.

        Args:
            annotation: Its ``question`` holds the options already, as ``build_question`` puts them.

        Raises:
            DataError: If one of the functions raises; names the function and the question_id.
        """
        annotation = dict(annotation)  # functions may change what they get
        if self._prompt_func is not None:
            return _text(self._prompt_func, annotation)
        examples = _text(self._examples, annotation)
        pre_prompt = _text(self._pre_prompt, annotation)
        if self._post_prompt is None:
            post_prompt = self._default_instruction(annotation)
        else:
            post_prompt = _text(self._post_prompt, annotation)
        return f"{examples}{pre_prompt}{annotation.get('question') or ''}\n{post_prompt}".strip()

    def _default_instruction(self, annotation: Mapping[str, Any]) -> str:
        question = question_without_options(annotation)
        # A question that lies in the picture has no text; then the options tell the language.
        language = self._language or detect_language(question or str(annotation.get("question") or ""))
        return default_instruction(annotation.get("question_type"), question, language)


def _piece(name: str, value: Piece) -> str | PromptCallable | None:
    if value is None or isinstance(value, str):
        return value
    if callable(value):
        return PromptCallable(name, value)
    raise ConfigError(f"prompt_template.{name} must be a text or a function, got {type(value).__name__}")


def _text(piece: str | PromptCallable | None, annotation: Mapping[str, Any]) -> str:
    if isinstance(piece, PromptCallable):
        return piece(annotation)
    return piece or ""
