"""The result of a box task: AP and everything that a reader has to know beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flagharness.errors import did_you_mean
from flagharness.evaluator._box_ap import (
    BoxSet,
    Numbers,
    Pair,
    Protocol,
    grouped,
    mean_numbers,
)
from flagharness.evaluator._box_counts import box_counts, count_errors, space_warning
from flagharness.evaluator._box_rows import Row

SPREAD_RULE = (
    "boxes of equal score have no order: AP takes them all at once; lowest and highest are the ends of what ranking "
    "them in any order gives, with the same boxes matched and counted; AP_as_emitted takes them as they come, which "
    "may also match and count others"
)


class Grouping(NamedTuple):
    """Rows that are evaluated apart, by the value of an annotation key."""

    key: str | None
    expected: tuple[str, ...] = ()

    def name_of(self, row: Row) -> str | None:
        return str(row[self.key]) if self.key else None

    def problems(self, row: Row) -> list[str]:
        """Return why a row belongs to no group."""
        if self.key is None:
            return []
        if row.get(self.key) in (None, ""):
            return [f"no `{self.key}`, by which AP is grouped"]
        name = str(row[self.key])
        if self.expected and name not in self.expected:
            known = ", ".join(self.expected)
            return [f"{self.key} {name!r} is none of {known}.{did_you_mean(name, self.expected)}"]
        return []


def box_result(
    inferences: Sequence[Sequence[Pair]],
    protocol: Protocol,
    grouping: Grouping,
    *,
    bbox_space: str,
    score_mode: str,
    with_count_errors: bool,
    class_agnostic: bool,
    detailed_keys: Sequence[str],
) -> dict[str, Any]:
    """Return the metrics of a task.

    AP and its kin are in percent, rounded to four decimals at the very end; None where there is nothing to find.
    With several inferences each number is the mean over them, and counts of predicted boxes are sums.

    Args:
        inferences: Every row with its verdict, once for each inference.
    """
    pairs = [pair for each in inferences for pair in each]
    groups = [_measured(each, protocol, grouping) for each in inferences]
    names = list(groups[0])
    per_group = {name: mean_numbers([each[name].numbers for each in groups]) for name in names}
    numbers = mean_numbers(list(per_group.values())) or dict.fromkeys((*protocol.keys, *_BESIDE))
    classes = _classes(groups)
    beyond = sum(each.beyond_max_dets for measured in groups for each in measured.values())
    warning = space_warning(pairs, bbox_space)
    absent = [name for name in grouping.expected if name not in names]
    return {
        **_shown(numbers, protocol),
        "order_spread": {
            "lowest": _percent(numbers["lowest"]),
            "highest": _percent(numbers["highest"]),
            "rule": SPREAD_RULE,
        },
        "n": len(inferences[0]),
        "headline": "AP",
        "range": [_percent(numbers["AP"]), _percent(numbers["at_best"])],
        "per_class": classes,
        "never_predicted": [
            name for name, each in classes.items() if each["n_truth"] and not each["n_predicted"]
        ],
        "boxes": box_counts(inferences, beyond),
        "space_warning": warning,
        "bbox_space": bbox_space,
        "score_mode": score_mode,
        "ap_engine": protocol.engine,
        "mean_f1_at_50": _percent(
            sum(float(verdict.correct) for _, verdict in pairs) / len(pairs) if pairs else None
        ),
        **(_group_block(per_group, inferences[0], grouping, absent, protocol) if grouping.key else {}),
        **({"class_agnostic": _agnostic(inferences, protocol, grouping)} if class_agnostic else {}),
        **({"count_errors": count_errors(inferences)} if with_count_errors else {}),
        **({"detailed": _detailed(inferences, protocol, detailed_keys)} if detailed_keys else {}),
        **_note(warning, absent, grouping),
    }


_BESIDE = ("as_emitted", "lowest", "highest", "at_best")


class _Measured(NamedTuple):
    """What is kept of the evaluation of one group in one inference."""

    numbers: Numbers
    per_class: dict[str, dict[str, Any]]
    beyond_max_dets: int


def _measured(pairs: Sequence[Pair], protocol: Protocol, grouping: Grouping) -> dict[str | None, _Measured]:
    found = {}
    for name, members in grouped(pairs, grouping.name_of).items():
        boxes = BoxSet(members, protocol)
        found[name] = _Measured(boxes.numbers(), boxes.per_class(), boxes.beyond_max_dets())
    return found


def _numbers_of(inferences: Sequence[Sequence[Pair]], protocol: Protocol, grouping: Grouping) -> Numbers:
    """Return the mean over groups and inferences."""
    return mean_numbers(
        [
            mean_numbers(
                [BoxSet(members, protocol).numbers() for members in grouped(pairs, grouping.name_of).values()]
            )
            for pairs in inferences
        ]
    )


def _shown(numbers: Mapping[str, float | None], protocol: Protocol) -> dict[str, float | None]:
    keys = {**{key: key for key in protocol.keys}, "AP_as_emitted": "as_emitted"}
    return {shown: _percent(numbers[key]) for shown, key in keys.items()}


def _classes(groups: Sequence[Mapping[str | None, _Measured]]) -> dict[str, dict[str, Any]]:
    """Return the categories of all groups; where there are groups, as "group: category"."""
    table: dict[str, dict[str, Any]] = {}
    for group, measured in groups[0].items():
        for name in measured.per_class:
            each = [inference[group].per_class[name] for inference in groups]
            table[name if group is None else f"{group}: {name}"] = {
                "AP": _percent(mean_numbers([{"AP": one["AP"]} for one in each])["AP"]),
                "n_truth": each[0]["n_truth"],
                "n_predicted": sum(one["n_predicted"] for one in each),
            }
    return table


def _group_block(
    per_group: Mapping[str | None, Numbers],
    pairs: Sequence[Pair],
    grouping: Grouping,
    absent: Sequence[str],
    protocol: Protocol,
) -> dict[str, Any]:
    sizes = Counter(grouping.name_of(row) for row, _ in pairs)
    return {
        "groups": {
            str(name): {**_shown(numbers, protocol), "n": sizes[name]} for name, numbers in per_group.items()
        },
        "groups_absent": list(absent),
        **({"partial": True} if absent else {}),
    }


def _agnostic(
    inferences: Sequence[Sequence[Pair]], protocol: Protocol, grouping: Grouping
) -> dict[str, float | None]:
    numbers = _numbers_of(inferences, protocol.agnostic, grouping)
    return _shown(numbers, protocol) if numbers else {}


def _detailed(
    inferences: Sequence[Sequence[Pair]], protocol: Protocol, keys: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return AP for each value of each annotation key; a row with a list of values belongs to each."""
    table: dict[str, dict[str, Any]] = {}
    for key in keys:
        values = sorted({value for row, _ in inferences[0] for value in _values(row, key)})
        table[key] = {}
        for value in values:
            parts = [[pair for pair in pairs if value in _values(pair.row, key)] for pairs in inferences]
            numbers = _numbers_of(parts, protocol, Grouping(None))
            table[key][value] = {**_shown(numbers, protocol), "n": len(parts[0])}
    return table


def _values(row: Row, key: str) -> list[str]:
    value = row.get(key)
    return ["(none)" if one is None else str(one) for one in (value if isinstance(value, list) else [value])]


def _note(warning: str | None, absent: Sequence[str], grouping: Grouping) -> dict[str, str]:
    notes = [warning] if warning else []
    if absent:
        notes.append(
            f"the mean is over the values of `{grouping.key}` that are there; absent: {', '.join(absent)}"
        )
    return {"note": "; ".join(notes)} if notes else {}


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 4)
