"""What the types cost: registrations against calls of a plain function, in one run.

Each program imports the same modules, FastAPI among them, and declares the same factories;
one registers them, the other hands the same arguments to one generic function. CPU seconds of
whole processes as CI starts them, without a cache, alternated, the best of each; the A/A
figure is the plain program against itself.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

_HEAD = """\
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Header

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.registration import ScopedRegistration
from scoped_registration.scope import ScopeResolver, ScopeValue

T = TypeVar("T")
S = TypeVar("S", bound=ScopeValue)


class Chat: ...


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def plain(
    name: str, factory: Callable[[ScopeContext[S]], T], *, scope: ScopeResolver[S]
) -> ScopedRegistration[T, S]:
    raise NotImplementedError
"""
_FACTORY = """

def build_{number}(context: ScopeContext[str]) -> Chat:
    return Chat()


"""
_REGISTRATION = """\
registration_{number} = RegistrationBuilder("chat-{number}").isolation(
    ScopedFactory(build_{number}, scope=current_user)
).build()
"""
_CALL = """\
registration_{number} = plain(
    "chat-{number}", build_{number}, scope=current_user
)
"""


@attrs.frozen
class Cost:
    checker: str
    command: tuple[str, ...]
    statements: int
    # The most that registrations may cost, times the plain calls; None: only reported.
    most: float | None


COSTS = (
    Cost("pyright", ("pyright", "--pythonpath", sys.executable), 200, 1.5),
    Cost("mypy", ("mypy", "--strict", "--cache-dir", os.devnull), 2000, 1.3),
    Cost("ty", ("ty", "check", "--python", sys.executable), 200, None),
    Cost("pyrefly", ("pyrefly", "check", "--config", "pyrefly.toml"), 200, None),
    Cost("zuban", ("zuban", "check", "--strict", "--python-executable", sys.executable), 200, None),
)
_ROUNDS = 3


def program(call: str, statements: int) -> str:
    return _HEAD + "".join((_FACTORY + call).format(number=number) for number in range(statements))


def cpu_seconds(cost: Cost, directory: Path, file: str) -> float:
    tool = Path(sys.executable).with_name(cost.command[0])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(tool), *cost.command[1:], file],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout + done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost.checker)
def test_registrations_cost_about_as_much_as_calls(
    cost: Cost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = {"plain": _CALL, "plain_again": _CALL, "registered": _REGISTRATION}
    for name, call in programs.items():
        (tmp_path / f"{name}.py").write_text(program(call, cost.statements))
    (tmp_path / "pyrefly.toml").write_text(
        f'preset = "default"\npython-interpreter-path = "{sys.executable}"\n'
    )
    best = dict.fromkeys(programs, float("inf"))
    for _ in range(_ROUNDS):
        for name in programs:
            best[name] = min(best[name], cpu_seconds(cost, tmp_path, f"{name}.py"))

    ratio = best["registered"] / best["plain"]
    with capsys.disabled():
        print(
            f"\n{cost.checker:10} {cost.statements:5} statements | "
            f"plain {best['plain']:6.2f} s | registered {best['registered']:6.2f} s | "
            f"ratio {ratio:.2f} | A/A {best['plain_again'] / best['plain']:.2f} | "
            f"at most {cost.most or '-'}"
        )
    assert cost.most is None or ratio <= cost.most
