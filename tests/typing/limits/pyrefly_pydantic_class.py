"""A pydantic model, called as a dependency, is Any to pyrefly where a protocol is wanted.

A function that returns the model is not.
"""

from typing import Any, Protocol, assert_type

from pydantic import BaseModel
from typing_extensions import TypeVar

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class Resolver(Protocol[S_co]):
    def __call__(self, *args: Any, **kwargs: Any) -> S_co: ...


class Model(BaseModel):
    name: str


def scope_of(resolver: Resolver[S]) -> S:
    raise NotImplementedError


assert_type(scope_of(Model), Model)  # red: pyrefly
