"""Models: the protocol, the OpenAI-compatible client, in-process models, retries."""

from flagharness.model._types import InProcessModel, Media, Message, Part, Request, Response

__all__ = ["InProcessModel", "Media", "Message", "Part", "Request", "Response"]
