"""State that outlives a worker: each run loads it, and commits it at its end (promise P11)."""

from scoped_registration.persistence.codec import TargetCodec

__all__ = ["TargetCodec"]
