"""What the Redis store lets the server do: each script is one step, which nothing interrupts.

A hash for each key has the fields ``version``, ``writer`` (the owner who committed it),
``document``, ``owner`` and ``until`` (milliseconds of the server's clock). A hash that
nothing was ever committed to expires with its lease.
"""

from __future__ import annotations

import hashlib

import attrs

__all__ = ["ACQUIRE", "COMMIT", "DELETE", "RELEASE", "RENEW", "Script"]


@attrs.frozen
class Script:
    """A script that uses one key, and the name that the server knows it by."""

    text: str
    digest: str = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        digest = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        object.__setattr__(self, "digest", digest)


_STATE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'owner', 'until', 'version', 'writer')
local owner, version, writer = held[1], held[3], held[4]
local leased = owner and tonumber(held[2]) > now
local function lease(ttl)
    redis.call('HSET', KEYS[1], 'until', string.format('%d', now + ttl))
    if not version then redis.call('PEXPIRE', KEYS[1], ttl) end
end
"""

# Owner, milliseconds, known version: the version, its writer, and the document if it is another
# one.
ACQUIRE = Script(
    _STATE
    + """
if leased and owner ~= ARGV[1] then return false end
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
lease(ARGV[2])
if writer and version ~= ARGV[3] then
    return {version, writer, redis.call('HGET', KEYS[1], 'document')}
end
return {version or '0', writer}
"""
)

# Owner, milliseconds: whether it is renewed.
RENEW = Script(
    _STATE
    + """
if not leased or owner ~= ARGV[1] then return 0 end
lease(ARGV[2])
return 1
"""
)

# Owner, version that is replaced, version that is written, document, whether to release:
# whether it is written.
COMMIT = Script(
    _STATE
    + """
if leased and owner == ARGV[1] and (version or '0') == ARGV[2] then
    redis.call('HSET', KEYS[1], 'version', ARGV[3], 'writer', owner, 'document', ARGV[4])
    redis.call('PERSIST', KEYS[1])
elseif version ~= ARGV[3] or writer ~= ARGV[1] then
    return 0
end
if ARGV[5] == '1' and owner == ARGV[1] then redis.call('HDEL', KEYS[1], 'owner', 'until') end
return 1
"""
)

# Owner. A hash without a field is no more.
RELEASE = Script(
    """
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then
    redis.call('HDEL', KEYS[1], 'owner', 'until')
end
return 1
"""
)

# Whether it is deleted, or -1 if it is leased. The number stays: whoever has an instance of a
# deleted version must not meet it again.
DELETE = Script(
    _STATE
    + """
if leased then return -1 end
if not writer then return 0 end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HDEL', KEYS[1], 'writer', 'document', 'owner', 'until')
return 1
"""
)
