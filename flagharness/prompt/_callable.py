"""Calling a task's own prompt functions, whichever signature they were written for."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from flagharness.errors import FOREIGN_FAILURES, DataError

_OLDER_KEYWORDS = ("question", "question_type", "evaluator", "evaluator_kwargs", "subject")
"""What prompt functions got, each as a keyword of its own, before they got the whole annotation."""


class PromptCallable:
    """A prompt function, called with the keywords that it accepts.

    ``annotation`` gets the whole annotation, any other parameter without a default the annotation's field of
    that name. Of the older keywords (``question``, ``question_type``, ``evaluator``, ``evaluator_kwargs``,
    ``subject``) those that the annotation lacks are None. A default gives way only to ``annotation`` and to an
    older keyword that the annotation has. ``**kwargs`` gets all of these. The signature is read once, here.
    """

    def __init__(self, role: str, function: Callable[..., Any]) -> None:
        self._description = f"{role} '{getattr(function, '__qualname__', repr(function))}'"
        self._function = function
        self._required, self._optional = _keywords(function)

    def __call__(self, annotation: Mapping[str, Any]) -> str:
        """The function's text for an annotation; None counts as no text.

        Raises:
            DataError: If the function raises (its error is the cause), or wants what the annotation lacks.
        """
        given = {**annotation, "annotation": annotation}
        known = {**dict.fromkeys(_OLDER_KEYWORDS), **given}
        where = f"{self._description}, question_id {annotation.get('question_id')!r}"
        for name in self._required:
            if name not in known:
                raise DataError(
                    f"{where}: the parameter {name!r} is neither 'annotation' nor a field of the annotation"
                )
        arguments = {name: known[name] for name in self._required}
        arguments |= {name: given[name] for name in self._optional if name in given}
        try:
            text = self._function(**arguments)
        except FOREIGN_FAILURES as error:
            raise DataError(f"{where}: {type(error).__name__}: {error}") from error
        if text is not None and not isinstance(text, (str, int, float)):
            raise DataError(f"{where}: returned {text!r:.80}, which is no text")
        return "" if text is None else str(text)


def _keywords(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Keywords that are always passed, and those passed when the annotation has them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some built-in callables have no signature
        return ["annotation"], []
    offered = ["annotation", *_OLDER_KEYWORDS]
    by_keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = {parameter.name: parameter for parameter in parameters if parameter.kind in by_keyword}
    required = [name for name, parameter in named.items() if parameter.default is inspect.Parameter.empty]
    optional = [name for name in offered if name in named and name not in required]
    if isinstance(function, functools.partial):
        optional = [name for name in optional if name not in function.keywords]
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        required += [name for name in offered if name not in named]
    return required, optional
