"""Endpoint URLs: what a given URL means, and what of it is secret."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from flagharness.config._snapshot import REMOVED
from flagharness.errors import ConfigError

_SECRET_IN_QUERY = re.compile(
    r"(?i)((?:^|&)[^=&]*(?:key|token|secret|code|sig|signature|auth|password)[^=&]*=)([^&]*)"
)


def chat_completions_url(url: str, where: str = "url") -> str:
    """Return the chat-completions URL that a full URL or a base URL means.

    Example:
        >>> chat_completions_url("http://127.0.0.1:8000")
        'http://127.0.0.1:8000/v1/chat/completions'
        >>> chat_completions_url("https://host/api/v1/")
        'https://host/api/v1/chat/completions'
        >>> chat_completions_url("https://host/v1/chat/completions?api-version=2024-10-21")
        'https://host/v1/chat/completions?api-version=2024-10-21'
    """
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError as error:
        raise ConfigError(f"{where}: {without_credentials(url)!r} is not a URL: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{where}: {without_credentials(url)!r} is not an http:// or https:// URL.")
    host = parts.hostname
    if not re.fullmatch(r"[A-Za-z0-9._:-]{1,253}", host) or ".." in host:
        raise ConfigError(f"{where}: {host!r} is no host name.")
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path = (path or "/v1") + "/chat/completions"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def without_credentials(url: str) -> str:
    """Return a URL that can be shown: no user, password, key or signature."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    host = parts.netloc.rpartition("@")[2]
    netloc = f"{REMOVED}@{host}" if "@" in parts.netloc else host
    query = _SECRET_IN_QUERY.sub(rf"\1{REMOVED}", parts.query)
    return urlunsplit((parts.scheme, netloc, parts.path, query, parts.fragment))


def secrets_in_url(url: str) -> list[str]:
    """Return the user, the password and the secret query values of a URL."""
    parts = urlsplit(url)
    return [
        parts.username or "",
        parts.password or "",
        *(secret for _, secret in _SECRET_IN_QUERY.findall(parts.query)),
    ]
