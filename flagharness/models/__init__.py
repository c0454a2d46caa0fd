"""The judge under the import path that FlagEvalMM's tasks use: ``from flagharness.models import GPT``."""

from flagharness.judge import GPT, ApiResponse, ApiUsage

__all__ = ["GPT", "ApiResponse", "ApiUsage"]
