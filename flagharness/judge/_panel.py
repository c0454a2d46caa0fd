"""The judges of one task: what each was asked, what each said, what still has to be asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flagharness.config import JudgeConfig, JudgeModel
from flagharness.judge._family import PROBE, JudgeFamily, Reading
from flagharness.judge._question import JudgeQuestion
from flagharness.judge._reading import Unreadable
from flagharness.judge._ruling import UNPARSED, Opinion, Ruling, decided_by_rule, ruling_of
from flagharness.model import Asked, Client, Fault, Message, Request, after, answered, failed, request_hash
from flagharness.run import Journal, Prediction, dump_line


class Panel:
    """One or several judges of one family, each with a journal of its own under ``{task}/judge/``.

    A verdict is found again by the hash of all that it depends on: the family and its version, the judge's model and
    endpoint, its sampling, the question's id and the whole text that was sent. Replies that could not be read and
    calls that failed are kept in the journal too, but never served.
    """

    def __init__(self, family: JudgeFamily, config: JudgeConfig) -> None:
        self.family = family
        self.config = config
        self._journals: dict[str, Journal] = {}
        self._settings = {judge.id: self._settings_of(judge) for judge in config.judges}
        self.not_asked: dict[str, str] = {}
        """Why a judge was not asked any more, by its id."""

    def open(self, folder: Path) -> None:
        """Read what the judges have said before.

        Args:
            folder: Where each judge has a folder of its own.
        """
        self._journals = {judge.id: Journal(folder / judge.id) for judge in self.config.judges}

    def close(self) -> None:
        """Close the journals; safe to call twice."""
        for journal in self._journals.values():
            journal.close()

    @property
    def label(self) -> str:
        """What the results of these judges are told apart by: who judges, and in which family."""
        return f"{self.config.label}.{self.family.name}"

    @property
    def digest(self) -> str:
        """What two results were judged alike by: the same judges, asked in the same way."""
        identity = [self._identity(judge) for judge in self.config.judges]
        return hashlib.sha256(dump_line([identity, self.config.min_valid])).hexdigest()[:12]

    def missing(self, question_id: str, inference: int, question: JudgeQuestion) -> list[JudgeModel]:
        """Return the judges that have to be asked about an answer."""
        if decided_by_rule(self.family, question) is not None:
            return []
        text = self.family.text(question)
        return [
            judge
            for judge in self.config.judges
            if self._journals[judge.id].find(self._hash(judge, question_id, inference, text)) is None
        ]

    def ruling(self, question_id: str, inference: int, question: JudgeQuestion) -> Ruling:
        """Return what holds for an answer, by what the judges have said so far."""
        by_rule = decided_by_rule(self.family, question)
        if by_rule is not None:
            return by_rule
        text = self.family.text(question)
        opinions = [
            self._opinion(judge, question_id, inference, question, text) for judge in self.config.judges
        ]
        return ruling_of(opinions, self.config.min_valid, cut=question.cut)

    async def ask(
        self, judge: JudgeModel, client: Client, question_id: str, inference: int, question: JudgeQuestion
    ) -> Fault | None:
        """Ask one judge about one answer and write down what it says; return the failure if there was one.

        A reply that cannot be read is asked for again, with a reminder of the form and nothing else changed.
        """
        text = self.family.text(question)
        key = self._hash(judge, question_id, inference, text)
        asked = Asked(question_id, inference, self._settings[judge.id], text, key)
        earlier: Prediction | None = None
        for tries in range(self.config.ask_again + 1):
            try:
                response = await client.ask(client.prepare(self._request(judge, asked, again=tries > 0), ()))
            except Fault as fault:
                self._append(judge, after(earlier, failed(asked, fault, judge.model.secrets)))
                return fault
            record = after(earlier, answered(asked, response))
            try:
                read_reply(self.family, record, question)
            except Unreadable as error:
                record.status, record.error = "error", _unparsed(str(error))
                earlier = record
            else:
                self._append(judge, record)
                return None
        assert earlier is not None
        self._append(judge, earlier)
        return None

    async def probe(self, judge: JudgeModel, client: Client) -> Prediction:
        """Ask one harmless question and return the record of it; whether it can be read is part of it.

        Raises:
            Fault: The judge does not answer.
        """
        asked = Asked("probe", 0, self._settings[judge.id], self.family.text(PROBE), None)
        response = await client.ask(client.prepare(self._request(judge, asked, again=False), ()))
        record = answered(asked, response)
        try:
            read_reply(self.family, record, PROBE)
        except Unreadable as error:
            record.status, record.error = "error", _unparsed(str(error))
        return record

    def describe(self) -> dict[str, Any]:
        """Return how verdicts are obtained, for the result."""
        family = self.family
        return {
            "family": family.name,
            "version": family.version,
            "prompt_sha256": family.prompt_sha256,
            "origin": family.origin,
            "label": self.label,
            "digest": self.digest,
            "models": [
                {
                    "id": judge.id,
                    "requested": judge.requested,
                    "model": judge.model.model_name,
                    "api_base": judge.base,
                    "sampling": self._sampling(judge),
                }
                for judge in self.config.judges
            ],
            **(
                {"aggregate": "majority", "min_valid": self.config.min_valid}
                if len(self.config.judges) > 1
                else {}
            ),
        }

    def _opinion(
        self, judge: JudgeModel, question_id: str, inference: int, question: JudgeQuestion, text: str
    ) -> Opinion:
        journal = self._journals[judge.id]
        key = self._hash(judge, question_id, inference, text)
        found = journal.find(key)
        if found is not None:
            return opinion_of(self.family, judge.id, journal.read(found), question)
        failure = journal.find_failure(key)
        if failure is None:
            return Opinion(judge.id, "judge_failed", why=self.not_asked.get(judge.id, "it was not asked yet"))
        record = journal.read(failure)
        fault = record.error or {}
        status = UNPARSED if fault.get("type") == UNPARSED else "judge_failed"
        return Opinion(judge.id, status, why=str(fault.get("message")), record=record)

    def _append(self, judge: JudgeModel, record: Prediction) -> None:
        self._journals[judge.id].append(record)

    def _request(self, judge: JudgeModel, asked: Asked, *, again: bool) -> Request:
        text = f"{asked.text}\n\n{self.family.reminder()}" if again else asked.text
        message = Message("user", (text,))
        return Request(asked.question_id, asked.inference, (message,), (), self._sampling(judge))

    def _sampling(self, judge: JudgeModel) -> Mapping[str, Any]:
        limit = judge.max_tokens if self.family.caps_output else {}
        return {**limit, **judge.model.sampling}

    def _identity(self, judge: JudgeModel) -> list[Any]:
        family = self.family
        return [
            family.name,
            family.version,
            family.prompt_sha256,
            judge.model.model_name,
            judge.base,
            self._sampling(judge),
        ]

    def _settings_of(self, judge: JudgeModel) -> str:
        return hashlib.sha256(dump_line(self._identity(judge))).hexdigest()[:12]

    def _hash(self, judge: JudgeModel, question_id: str, inference: int, text: str) -> str:
        return request_hash(
            question_id=question_id,
            inference=inference,
            model=self._settings[judge.id],
            messages=(Message("user", (text,)),),
            digests=(),
            limits=None,
            sampling={},
        )


def read_reply(family: JudgeFamily, record: Prediction, question: JudgeQuestion) -> Reading:
    """Return what a judge's reply says.

    Raises:
        Unreadable: It was cut off, refused, empty, or states no verdict.
    """
    if record.truncated:
        raise Unreadable("the reply was cut off by judge_max_tokens")
    if record.refused:
        raise Unreadable("the judge refused")
    return family.read(record.answer, question)


def opinion_of(family: JudgeFamily, judge: str, record: Prediction, question: JudgeQuestion) -> Opinion:
    """Return what a judge's reply means."""
    try:
        reading = read_reply(family, record, question)
    except Unreadable as error:
        return Opinion(judge, UNPARSED, why=str(error), record=record)
    return Opinion(judge, reading.grade, reading.fields, record=record)


def _unparsed(message: str) -> dict[str, Any]:
    return {"type": UNPARSED, "message": message, "http_status": 200, "attempts": 1}
