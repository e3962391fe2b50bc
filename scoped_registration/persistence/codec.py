"""From a target to bytes and back, with a version and a checksum around them."""

from __future__ import annotations

import zlib
from typing import Final, Protocol, TypeVar, cast

from scoped_registration.errors import ReasonCode, RegistrationError, describe_type
from scoped_registration.runtime.report import report_failure

__all__ = ["TargetCodec", "check_codec", "dump", "restore", "seal", "unreadable", "unseal"]

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

_FORMAT: Final = b"scoped-registration-1"


class TargetCodec(Protocol[T_contra]):
    """Writes the state of a target into a document, and a document's state into a target.

    What it writes is all that the next run begins with: an attribute that is left out begins
    as the factory makes it. `pickle` has no place here: whoever can write to the store could
    then run code in every worker.

    Example:
        ```python
        class ChatCodec:
            version = 1

            def dump(self, target: Chat) -> bytes:
                return json.dumps(target.messages).encode()

            def restore(self, target: Chat, document: bytes, version: int) -> None:
                target.messages[:] = json.loads(document)
        ```
    """

    @property
    def version(self) -> int:
        """The version of what `dump` writes: 1 or more, raised when its shape changes."""
        ...

    def dump(self, target: T_contra, /) -> bytes:
        """Return the state of a target. The run has ended."""
        ...

    def restore(self, target: T_contra, document: bytes, version: int, /) -> None:
        """Replace the state of a target with that of a document.

        Args:
            target: What the factory has just made; of `SingleUser(target)`, the instance.
            document: What `dump` returned.
            version: Of the codec that wrote it, never later than this one's.
        """
        ...


def check_codec(codec: object) -> None:
    """Refuse what is no codec.

    Raises:
        RegistrationError: ``option_invalid``.
    """
    version = getattr(codec, "version", None)
    methods = (getattr(codec, name, None) for name in ("dump", "restore"))
    if (
        isinstance(codec, type)
        or not all(callable(method) for method in methods)
        or isinstance(version, bool)
        or not isinstance(version, int)
        or version < 1
    ):
        raise RegistrationError(
            ReasonCode.OPTION_INVALID,
            "a codec has a version, an int from 1, and the methods dump and restore",
            instead=".persisted(store, codec=ChatCodec())",
        )


def seal(content: bytes, version: int) -> bytes:
    """Return a document: the content, its version and a checksum."""
    return b"%s %d %08x\n%s" % (_FORMAT, version, zlib.crc32(content), content)


def unseal(document: bytes, *, newest: int, registration: str) -> tuple[bytes, int]:
    """Return the content of a document, and its version.

    Raises:
        RegistrationError: ``document_unreadable`` if it is damaged, or later than `newest`.
    """
    head, _, content = document.partition(b"\n")
    try:
        name, version_text, checksum = head.split(b" ")
        version = int(version_text)
        intact = name == _FORMAT and int(checksum, 16) == zlib.crc32(content)
    except ValueError:
        intact, version = False, 0
    if not intact:
        raise unreadable("it is damaged, or was not written by this library", registration)
    if version > newest:
        why = f"it has version {version}, and the newest that is known is {newest}"
        raise unreadable(why, registration)
    return content, version


def dump(codec: TargetCodec[T], target: T, registration: str) -> bytes:
    """Return the document of a target.

    Raises:
        RegistrationError: ``document_unwritable`` if the codec fails or returns no bytes.
    """
    try:
        content = cast("object", codec.dump(target))  # whatever unchecked code returns
        if isinstance(content, bytes):
            return seal(content, codec.version)
        why = f"the codec returned {describe_type(content)}, not bytes"
    except Exception as error:
        report_failure("a codec could not write a target", registration, error)
        why = f"the codec failed with {type(error).__qualname__}"
    raise RegistrationError(
        ReasonCode.DOCUMENT_UNWRITABLE,
        f"the state of a thread was not committed: {why}",
        instead="a codec that writes every state which the target can have, as bytes",
        registration=registration,
    )


def restore(codec: TargetCodec[T], target: T, document: bytes, registration: str) -> None:
    """Put the state of a document into a target.

    Raises:
        RegistrationError: ``document_unreadable``.
    """
    content, version = unseal(document, newest=codec.version, registration=registration)
    try:
        returned = cast("object", codec.restore(target, content, version))
    except Exception as error:
        report_failure("a codec could not restore a target", registration, error)
        why = f"the codec failed with {type(error).__qualname__}"
        raise unreadable(why, registration) from None
    if returned is not None:  # a coroutine that nobody awaits, or a target that nobody uses
        raise unreadable(f"restore returned {describe_type(returned)}, not None", registration)


def unreadable(why: str, registration: str) -> RegistrationError:
    """Return the refusal of a document, which is kept as it is."""
    return RegistrationError(
        ReasonCode.DOCUMENT_UNREADABLE,
        f"what the store holds for a thread cannot be read: {why}",
        instead="run the release that wrote it, or delete the document",
        registration=registration,
    )
