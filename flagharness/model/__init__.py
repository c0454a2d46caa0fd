"""Models: the OpenAI-compatible client, in-process models, retries."""

from flagharness.model._client import EndpointClient
from flagharness.model._faults import Fault
from flagharness.model._in_process import InProcessClient, load_in_process_model
from flagharness.model._records import Asked, after, answered, explained, failed, scrubbed, tokens_of
from flagharness.model._reply import split_reasoning
from flagharness.model._types import Client, InProcessModel, Media, Message, Part, Request, Response
from flagharness.model._wire import chat_body, media_of, request_hash

__all__ = [
    "Asked",
    "Client",
    "EndpointClient",
    "Fault",
    "InProcessClient",
    "InProcessModel",
    "Media",
    "Message",
    "Part",
    "Request",
    "Response",
    "after",
    "answered",
    "chat_body",
    "explained",
    "failed",
    "load_in_process_model",
    "media_of",
    "request_hash",
    "scrubbed",
    "split_reasoning",
    "tokens_of",
]
