"""A judge as FlagEvalMM's tasks ask one: ``get_result(annotations, predictions, llm)``."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from flagharness.config import JudgeModel, load_judge_config
from flagharness.errors import EndpointError
from flagharness.media import sniff
from flagharness.model import Asked, EndpointClient, Fault, answered, failed, scrubbed
from flagharness.run import Journal, Prediction, dump_line


@dataclass(frozen=True)
class ApiUsage:
    """Tokens of one call."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


@dataclass(frozen=True)
class ApiResponse:
    """What a judge said: ``content``, and ``usage`` where it said that too."""

    content: str
    usage: ApiUsage | None = None

    def __str__(self) -> str:
        return self.content


class GPT:
    """A chat model with the methods that FlagEvalMM's scoring functions use: ``build_message`` and ``infer``.

    The run's judge is handed to ``get_result`` in this form: its calls are retried, kept in the judge's journal and
    found there again. A call that fails for good raises, and is counted whatever the caller makes of it.

    Args:
        model_name: The model.
        api_key: Sent as a bearer token; OPENAI_API_KEY for api.openai.com where it is not given.
        base_url: A base URL or the full chat-completions URL.
        folder: Where the journal lies; None keeps none.
        judge: What to ask, in place of the three above.

    Raises:
        ConfigError: The endpoint cannot be used as given.
    """

    def __init__(
        self,
        model_name: str = "",
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        folder: Path | None = None,
        judge: JudgeModel | None = None,
        **_: Any,
    ) -> None:
        self._judge = judge if judge is not None else _judge_of(model_name, api_key, base_url)
        self.name = self._judge.id
        self.model_name = self._judge.model.model_name
        self._journal = Journal(folder) if folder is not None else None
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.used: list[Prediction] = []
        """The records of the calls that were answered, found ones included."""
        self.failures = 0
        """Calls that failed for good."""

    def build_message(
        self,
        query: str,
        system_prompt: str | None = None,
        multi_modal_data: Mapping[str, Sequence[str]] | None = None,
        past_messages: Sequence[Mapping[str, Any]] | None = None,
    ) -> list[dict[str, Any]]:
        """Return the messages that ask a question.

        Args:
            multi_modal_data: ``{"image": [paths]}``; sent as the files are.
        """
        messages = [dict(message) for message in past_messages or []]
        if system_prompt:
            messages.append({"role": "system", "content": system_prompt})
        paths = (multi_modal_data or {}).get("image") or []
        content: Any = query
        if paths:
            content = [{"type": "text", "text": query}, *map(_image_part, paths)]
        return [*messages, {"role": "user", "content": content}]

    def infer(
        self,
        chat_messages: Sequence[Mapping[str, Any]],
        temperature: float | None = None,
        max_tokens: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        **extra: Any,
    ) -> ApiResponse:
        """Ask; arguments win over the judge config. Safe to call from several threads.

        Raises:
            EndpointError: No answer after all retries.
        """
        body = self._body(chat_messages, temperature, max_tokens, {"top_p": top_p, "seed": seed, **extra})
        key = hashlib.sha256(dump_line([self._judge.base, body.decode()])).hexdigest()[:32]
        found = self._journal.find(key) if self._journal else None
        if found is not None and self._journal is not None:
            return self._use(self._journal.read(found))
        asked = Asked(key[:12], 0, self._judge.id, str(chat_messages[-1].get("content"))[:20_000], key)
        loop = self._running_loop()
        outcome = asyncio.run_coroutine_threadsafe(self._ask(body, asked), loop).result()
        with self._lock:
            if self._journal is not None:
                self._journal.append(outcome)
            if not outcome.ok:
                self.failures += 1
                raise EndpointError(
                    f"the judge {self._judge.id} gave no answer: {(outcome.error or {}).get('message')}"
                )
        return self._use(outcome)

    def close(self) -> None:
        """End the connection; safe to call twice."""
        if self._loop is not None and self._thread is not None:
            asyncio.run_coroutine_threadsafe(self._close_client(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None
        if self._journal is not None:
            self._journal.close()

    def _use(self, record: Prediction) -> ApiResponse:
        with self._lock:
            self.used.append(record)
        usage = record.usage or {}
        names = ("prompt_tokens", "completion_tokens", "total_tokens")
        counts = {name: usage[name] for name in names if isinstance(usage.get(name), int)}
        return ApiResponse(record.answer, ApiUsage(**counts) if counts else None)

    def _body(
        self,
        messages: Sequence[Mapping[str, Any]],
        temperature: float | None,
        max_tokens: int | None,
        others: Mapping[str, Any],
    ) -> bytes:
        body: dict[str, Any] = {
            "model": self.model_name,
            "messages": list(messages),
            **self._judge.model.sampling,
        }
        if temperature is not None and "temperature" in body:  # a model that takes none is sent none
            body["temperature"] = temperature
        limit = (
            dict.fromkeys(self._judge.max_tokens, max_tokens) if max_tokens else dict(self._judge.max_tokens)
        )
        body |= {**limit, **{name: value for name, value in others.items() if value is not None}}
        return orjson.dumps(body)

    async def _ask(self, body: bytes, asked: Asked) -> Prediction:
        try:
            return answered(asked, await self._client.ask(body))
        except Fault as fault:
            record = failed(asked, fault, self._judge.model.secrets)
            record.question = scrubbed(record.question, self._judge.model.secrets)
            return record

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="judge-chat", daemon=True)
                self._thread.start()
                self._client = EndpointClient(self._judge.model, wait=_wait)
                asyncio.run_coroutine_threadsafe(self._client.__aenter__(), self._loop).result()
            return self._loop

    async def _close_client(self) -> None:
        await self._client.__aexit__(None, None, None)


def _judge_of(model_name: str, api_key: str | None, base_url: str | None) -> JudgeModel:
    keys = {"model_name": model_name, "base_url": base_url, "key": api_key}
    return load_judge_config({name: value for name, value in keys.items() if value}).judges[0]


def _image_part(path: str) -> dict[str, Any]:
    data = Path(path).read_bytes()
    found = sniff(data)
    mime = found.mime if found is not None else "image/jpeg"
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{mime};base64,{base64.b64encode(data).decode()}"},
    }


async def _wait(fault: Fault, seconds: float) -> None:
    await asyncio.sleep(seconds)
