"""Phrases that announce a choice, and phrases that take one back. English and Chinese.

A cue pattern ends where the label is expected; the label itself is read there by a LabelReader. Texts are folded
(see `_reply.fold`), so Chinese punctuation is ASCII here. STRONG, CONCLUSION, COPULA, PREDICATE and CORRECTION are
for the lowered text (`_reply.lowered`): ignoring case would double their time.
"""

from __future__ import annotations

import re

_ADVERBS = (
    "clearly|definitely|certainly|likely|most likely|probably|indeed|actually|therefore|thus|hence|obviously|simply"
    "|just|still|now|then|also|ultimately|apparently|correctly|best"
)
_FILL = (
    rf"(?:\s|[:=,]|[-–—]+[>\s]|→|⇒|=>|>|\b(?:is|are|be|the|options?|choices?|letters?|answers?|labell?ed|marked|both|either"
    rf"|likely|{_ADVERBS})\b|选项|选择|是|为)*"
)
_LINK = (
    r"\s*(?:\b(?:is|are|was|were|would\s+be|will\s+be|should\s+be|must\s+be|has\s+to\s+be|seems?\s+to\s+be"
    r"|appears?\s+to\s+be|remains)\b|'s\b|[:=]|[-–—]+>?\s|→|⇒)"
)
_TOPIC = r"(?:\s+(?:to|for|of|in|from|based|that|here|which|among|given|i|we|after)\b[^.:;,?!\n]{0,80}?)?"

STRONG = re.compile(
    rf"""
    \b(?:
        (?:answers?\b|ans\b\.?){_TOPIC}(?:{_LINK}|\s(?=\s*[(\[]?[a-z][)\]]?(?:\W|$)))
      | (?:choices?|options?|selections?|pick|match|decision|conclusion)\b{_TOPIC}{_LINK}
      | (?:correct|best|final|matching|closest|most\s+[a-z]+)\s+(?:[a-z]+\s+){{0,2}}?(?:is\b|are\b|:)
      | (?:correct|final)\s*:
      | (?:choose|chose|chosen|pick|picked|select|selected|opt\s+for|opted\s+for|vote\s+for|settle\s+on
          |lean(?:ing)?\s+towards?|go(?:ing)?\s+(?:with|for))\b
    ){_FILL}
    | (?=[答正最结])(?:答案|正确的?(?:选项|选择|答案)?|最佳选项|结论)(?:应该|应当|应|就|显然|可能|最终|确实|大概)*
        (?:是|为|选|填|:|=|→|\s)+{_FILL}
    | 答案\]?{_FILL}
    | mak(?:es|ing)(?=\s[^.:;,?!\n]{{1,24}}\sthe\s+(?:only\s+)?(?:correct|right|best)\b){_FILL}
    | 选(?!项|手|举|用|出)(?:择(?!题)|取|了|中|的是|为|是|:|\s)*{_FILL}
    """,
    re.VERBOSE,
)
"""Announces the answer of a reply; the last one counts."""

CONCLUSION = re.compile(
    rf"""
    \b(?:(?:think|believe|guess|say|suppose|conclude|match(?:es)?|fits|so|thus|therefore|hence|but|rather|instead
        |finally|overall|accordingly|consequently|[a-z]+ly)\b
        |(?:yes|no|sure|okay|ok|well|wait|actually),),?(?:\s+that\b)?{_FILL}
    | (?:^|\b(?:it|this|that|which)\s|[.,;:!\n]\s?)(?:looks\s+like|corresponds\s+to)\b{_FILL}
    | \b(?:leaves|leaving)\b{_FILL}
    | (?:而是|应该是|应是|应为|就是|便是|故|因此|所以){_FILL}
    """,
    re.VERBOSE,
)
"""Weaker than STRONG: counts only before a label that ends its clause."""

COPULA = re.compile(rf"(?:(?:\b(?:is|are|be)|'s)\b|是|为){_FILL}")
"""Weakest: counts only before a label that ends its clause, and only if all of a reply's agree."""

CLAUSE_END = re.compile(
    r"\s*(?:[.,;:!)\]\n]|$|(?:because|since|as|given|due|based|rather|instead|not|with|for|option|choice)\b|因|项|选项|吧|了)",
    re.IGNORECASE,
)

LAST_WORD = re.compile(
    r"(?:[,:;]|[-–—]+[>\s]|→|⇒|=>)\s*(?:(?:the|options?|choices?|answers?)\s+)*$", re.IGNORECASE
)

PREDICATE = re.compile(
    r"""\s*(?:(?:options?|choices?|answers?)\s+)?
    (?:is|are|was|would\s+be|must\s+be|should\s+be|has\s+to\s+be|seems|appears|looks)\s+
       (?:(?:clearly|definitely|certainly|therefore|thus|likely|most\s+likely|probably|indeed|also|both|to\s+be)\s+)*
       (?:the\s+|my\s+|our\s+)?(?:(?:final|only|single|most|one)\s+)*
       (?:correct\b|answers?\b|best\b|(?:appropriate|suitable|accurate|plausible|likely|fitting)\b
          |right(?=\s*(?:[.,;!\n)]|$|because|since|as\b|answer|option|choice|one\b)))
       (?!\s*,?\s*but\s+(?:it\s+)?(?:isn't|is\s+not|is\s+wrong)\s*(?:[.,;!\n]|$))
     | \s+it\s+is\s*(?:[.!]|$)
     | (?:选项|项|都|均|是|为){0,4}正确(?!率)""",
    re.VERBOSE,
)
"""Follows a label: "B is correct"."""

_NOT_BEFORE = re.compile(
    r"(?:n't|\b(?:not|never|hardly|doubt)\b)[^.,;:!?\n]{0,24}$"
    r"|\b(?:if|whether|unless|suppose|assuming|assume|might|could|may|would\s+you|people|someone|students?)\s+"
    r"(?:that\s+)?(?:the\s+|my\s+|your\s+|its\s+)?(?:correct\s+|final\s+|right\s+|best\s+|also\s+)?"
    r"(?:(?:answer|option|choice|it)\s+)?$"
    r"|\b(?:wrong|incorrect)\s+[a-z]+\s+$"
    r"|\b(?:wrong|incorrect|initial|first|previous|earlier|other|another|tempting|to|least\s+likely)\s+(?:the\s+)?$"
    r"|(?:[不别没未非勿]|如果|假如|假设|若|是否|错误)[^.,;:!?\n]{0,3}$",
    re.IGNORECASE,
)
_ALL_BUT = r"\b(?:all|any|anything|every|everything)\s+"
_REJECTED_BEFORE = re.compile(
    r"(?:n't|\b(?:not|never|neither|nor|no|without|unlike|except|excluding|cannot|(?:rather|other)\s+than|instead\s+of"
    rf"|{_ALL_BUT}but|(?:eliminat|exclud|reject|discard)\w*|rul\w+\s+out))"
    r"\s+(?:(?:be|is|really|the|an?|options?|choices?|to|on|in|at)\s+)*[(\[\"']?$"
    r"|(?:不是|不选|并非|而非|不可能是|不能是|不在|排除|没有|无)(?:选项)?\s?[(\[\"']?$",
    re.IGNORECASE,
)
_VERDICT_AFTER = (
    r"(?:(?:is|was|are|were|does|do|did|has|have|would|should|could|can|will|looks?|seems?|appears?)\s?(?:also\s+|clearly\s+)?"
    r"(?:not|n't|wrong|incorrect|false|invalid|ruled|eliminated|excluded|impossible|unlikely|out|too)\b|cannot\b|can't\b|fails?\b)"
    r"|\s*(?:选项|项)?(?:是|就)?(?:不|错|有误|可排除|排除)"
)
_REJECTED_AFTER = re.compile(
    rf"\s*(?:{_VERDICT_AFTER}|\?+\s*(?:no|nope|not)\b|,?\s*but\s+(?:it\s+|this\s+|that\s+)?(?:is|was)\s?(?:not|n't)"
    r"\s+(?:really\s+|actually\s+)?one\b|没有(?=\s*(?:[.,;!?\n]|$)))",
    re.IGNORECASE,
)
_LABEL_REJECTED_AFTER = re.compile(
    rf"\s*(?:,?\s*(?:but\s+)?(?:which|that|it|this)\s+)?{_VERDICT_AFTER}", re.IGNORECASE
)
_EXCLUDED = re.compile(rf"{_ALL_BUT}$", re.IGNORECASE)
_CONTRAST = re.compile(r"\b(?:but|rather|instead)\b|而是", re.IGNORECASE)
_QUESTION = re.compile(r"\s*\?")
CORRECTION = re.compile(
    r"\b(?:wait|actually|correction|on\s+second\s+thou?ght|was\s+wrong|is\s+wrong|mistaken?|i\s+was|apologies|sorry"
    r"|let\s+me\s+(?:re|double|correct)[\w-]*|re-?check\w*|check\w*\s+again|hmm|oops|no,)"
    r"|(?=[不更错纠重修])(?:不对|更正|错了|纠正|重新|修正)",
)
"""Takes an answer given before it back."""

_RETRACTION = re.compile(
    r"[\s.,;:!)}\]\"']*(?:\b(?:no|oh|oops|hmm+|wait|actually|sorry|but)\b[\s,.!]*){0,4}"
    r"(?:\b(?:that|this|it)\s?(?:'s|is|was)\s+(?:wrong|incorrect|not\s+right|not\s+correct|a\s+mistake)"
    r"|\bi\s+was\s+(?:wrong|mistaken)|(?:等等|等一下)?[\s,.]*[这那]?(?:不对|错了))[\s.,!]*(?:(?:不对|错了)[\s.,!]*)?$",
    re.IGNORECASE,
)
"""All that follows an answer, and takes it back without another in its place. For short texts."""

REFUSAL = re.compile(
    r"\b(?:cannot|can't|could\s?n't|could\s+not|unable|do\s+not\s+know|don't\s+know|not\s+sure|unclear|no\s+idea"
    r"|sorry|impossible\s+to|not\s+(?:possible|visible|enough))\b|无法|不能确定|不知道|抱歉|看不清",
    re.IGNORECASE,
)


def announced(text: str, start: int, end: int) -> bool:
    """Whether a cue at start, with its label ending at end, is meant: not negated, supposed or asked."""
    window = max(0, start - 48)
    contrast = _CONTRAST.match(text, start)
    if (_EXCLUDED if contrast else _NOT_BEFORE).search(text, window, start):
        return False
    return not (_QUESTION.match(text, end) or _LABEL_REJECTED_AFTER.match(text, end))


_RETRACTION_LENGTH = 120


def retracted(text: str, end: int) -> bool:
    """Whether all that follows an answer takes it back."""
    return len(text) - end <= _RETRACTION_LENGTH and _RETRACTION.match(text, end) is not None


def label_rejected(text: str, start: int, end: int) -> bool:
    """Whether the label from start to end is named only to be ruled out."""
    if _REJECTED_BEFORE.search(text, max(0, start - 40), start):
        return True
    return _LABEL_REJECTED_AFTER.match(text, end) is not None


def text_rejected(text: str, start: int, end: int) -> bool:
    """Whether an option's text from start to end is named only to be ruled out ("Left, it is not ..." stands)."""
    if _REJECTED_BEFORE.search(text, max(0, start - 40), start):
        return True
    return _REJECTED_AFTER.match(text, end) is not None


_CLAUSE_STOP = re.compile(r"\n|(?:(?<![ .][A-Z])\.|[!?;])(?=\s|$)")
_CLAUSE_LENGTH = 400


def clause(text: str, pos: int) -> str:
    """Return what stands from the position to the end of its clause, at most 400 characters."""
    stop = _CLAUSE_STOP.search(text, pos, pos + _CLAUSE_LENGTH)
    return text[pos : stop.start() if stop else pos + _CLAUSE_LENGTH]
