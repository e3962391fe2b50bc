"""Which texts a path may show: those of source code, never one that is data.

The key of a mapping may be the name of a principal, also of one whose product is not compared.
So it is shown only where it stands in the code of the class that holds the mapping, or where a
library's object holds the mapping and the key is one of the strings that the interpreter keeps
for source code: what arrives with a request is none of these.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from scoped_registration.verification.classes import class_dicts, class_name, mro_of
from scoped_registration.verification.constants import is_library

__all__ = ["Naming", "is_holder"]

_LETTERS = 3
_LONGEST_KEY = 80
_MOST_BITS = 64
_HIDDEN = "..."
_NO_HOLDERS = frozenset({"builtins", "collections", "functools", "types"})


class Naming:
    """Decides what may be shown.

    Args:
        hidden: Texts that nothing may show: the parts of both scopes and both thread ids. What
            holds one, in any case, is not shown; one or two letters are looked for as a word,
            since nearly every name holds them.
    """

    def __init__(self, hidden: Iterable[str]) -> None:
        texts = {text.casefold() for text in hidden} - {""}
        self._words = {text for text in texts if len(text) < _LETTERS and text.isalpha()}
        self._texts = texts - self._words

    def hides(self, text: str) -> bool:
        """Tell whether a text must not be shown."""
        folded = text.casefold()
        if any(hidden in folded for hidden in self._texts):
            return True
        return not self._words.isdisjoint(re.split(r"[\W\d_]+", folded))

    def attribute(self, name: object) -> str:
        """Return how to show the name of an attribute. Code has written it."""
        shown = type(name) is str and name.isidentifier() and not self.hides(name)
        return f".{name}" if shown else f".<{_HIDDEN}>"

    def key(self, key: object, holder: object) -> str:
        """Return how to show a key.

        Args:
            key: The key of a mapping.
            holder: The nearest object on the way to the mapping that is of a class.
        """
        if type(key) is int and key.bit_length() <= _MOST_BITS:
            shown = str(key)
        elif type(key) is str and len(key) <= _LONGEST_KEY and key.isprintable() and '"' not in key:
            shown = f'"{key}"'
        else:
            return _HIDDEN
        may_be_shown = _is_code(key, type(holder)) and not self.hides(str(key))
        return shown if may_be_shown else _HIDDEN


def is_holder(value: object) -> bool:
    """Tell whether the class of an object says what its mappings hold."""
    return class_name(type(value))[0] not in _NO_HOLDERS


def _is_code(key: str | int, holder: type) -> bool:
    if type(key) is str and is_library(class_name(holder)[0]) and _is_interned(key):
        return True
    return any(
        type(text) is type(key) and text == key
        for base, namespace in zip(mro_of(holder), class_dicts(holder), strict=True)
        if class_name(base)[0] not in _NO_HOLDERS
        for text in _texts_of(namespace)
    )


def _texts_of(namespace: Mapping[str, object]) -> Iterator[object]:
    yield from cast("dict[str, object]", namespace.get("__annotations__", {}))
    for member in list(namespace.values()):
        if type(member) is types.FunctionType:
            yield from _constants_of(member.__code__)


def _constants_of(code: types.CodeType) -> Iterator[object]:
    pending: list[object] = list(code.co_consts)
    while pending:
        constant = pending.pop()
        yield constant
        if type(constant) is types.CodeType:
            pending += constant.co_consts
        elif type(constant) is tuple:  # the keys of a dict that is written out
            pending += constant


def _is_interned(text: str) -> bool:
    """Tell whether a text is one that the interpreter keeps: a name or a constant of code."""
    copy = text[:1] + text[1:]
    return copy is not text and sys.intern(copy) is text
