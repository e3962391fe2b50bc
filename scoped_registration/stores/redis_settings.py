"""Whether a Redis server keeps what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from redis import exceptions

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.redis_connections import ENGINE, Client, say

__all__ = ["check_settings"]


@attrs.frozen
class _Settings:
    """What a server says of itself; None: it does not say."""

    policy: str | None
    persistent: bool | None


async def check_settings(client: Client, *, require_persistence: bool) -> None:
    """Refuse a server that would lose documents.

    Raises:
        RegistrationError: ``store_not_ready``.
    """
    settings = await _from_config(client) or await _from_info(client)
    if settings.policy not in (None, "noeviction"):
        raise _not_ready(
            "the server may evict documents when its memory is full "
            f"(maxmemory-policy {settings.policy})",
            "set maxmemory-policy to noeviction",
        )
    if not require_persistence:
        return
    if settings.policy is None or settings.persistent is None:
        raise _not_ready(
            "the server does not say whether it evicts documents and writes them to a disk: "
            "neither CONFIG GET nor INFO tells",
            "allow CONFIG GET for this user; or see that the server has maxmemory-policy "
            "noeviction and persistence, and pass require_persistence=False",
        )
    if not settings.persistent:
        raise _not_ready(
            "the server writes nothing to a disk, neither an append-only file nor snapshots",
            "set appendonly to yes; or pass require_persistence=False if documents may be lost "
            "when the server restarts",
        )


async def _from_config(client: Client) -> _Settings | None:
    found: dict[str, Any] = {}
    try:
        for name in ("maxmemory-policy", "appendonly", "save"):
            found |= _texts(await say(client, "CONFIG GET", name))
    except exceptions.ResponseError:  # not permitted, or renamed by whoever runs the server
        return None
    policy = found.get("maxmemory-policy")
    if policy is None:
        return None
    return _Settings(policy, found.get("appendonly") == "yes" or bool(found.get("save")))


async def _from_info(client: Client) -> _Settings:
    try:
        found = _texts(await say(client, "INFO"))
    except exceptions.ResponseError:
        return _Settings(None, None)
    # INFO does not tell whether snapshots are taken; an append-only file it does.
    persistent = True if str(found.get("aof_enabled")) == "1" else None
    return _Settings(found.get("maxmemory_policy"), persistent)


def _texts(answer: Mapping[Any, Any]) -> dict[str, Any]:
    return {_text(name): _text(value) for name, value in answer.items()}


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _not_ready(problem: str, instead: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.STORE_NOT_READY,
        f"the {ENGINE} store is not ready: {problem}",
        instead=instead,
    )
