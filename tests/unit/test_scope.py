"""Scope keys: golden values, contexts and thread ids."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

import pytest
from typing_extensions import override

from scoped_registration import ReasonCode, RegistrationError, ScopeContext
from scoped_registration.scope import (
    Current,
    check_thread_id,
    scope_digest,
    scope_text,
    storage_key,
)
from tests.unit.samples import SAMPLES

_CANARY = "canary-principal-7f3a"

# The text of each sample, and its storage key for registration "chat" and thread "t-1".
# They are in stores and file names: a change here is a migration of other people's data.
GOLDEN = {
    "str": ("s5:alice", "29fff662921350994f5ebd08ffe157b523da144ba90e96b1933589135f89996b"),
    "str-unicode": (
        "s5:Zo\xeb \U0001f600",
        "d527ff4b5a8b2996f7f3ed85f4da1dbad36ea92f3751ec4cfe3cd920f0ef02d6",
    ),
    "int": ("i42;", "0924bbf4b175e5586d86ac22b06905501a1480106a0bd5b073552874e2ab3788"),
    "zero": ("i0;", "c67444f7d01b8e8dc6a933e0adaed9fc339c3e101ff77ff3564e09d3ef95e156"),
    "negative": ("i-7;", "daa7878b5c378ca5382617bf2903ca069b3fc1c614f00f79d95530e1f1f76f56"),
    "uuid": (
        "u12345678123456781234567812345678",
        "a380db392853f9665f082fb08f31e900c0a446469870950a38d9ecd3ccce5ba6",
    ),
    "enum": (
        "es23:tests.unit.samples:Roles5:ADMIN",
        "9c68548aacedbfb09121980cbd266a2dd120dd0459df8f06af29a04216f1e49d",
    ),
    "str-enum": (
        "es25:tests.unit.samples:Tenants4:ACME",
        "b25e224a54f0b88c0a9193b12429de35cb534dd76809863f125b5ddb3bb118f4",
    ),
    "tuple": (
        "t2(s0:s4:acmes0:i7;)",
        "62a5252327bde2fb0f186671547ae8950b971f5d53e5a19f8f5925c1cf3ef6c6",
    ),
    "nested": (
        "t2(s0:t2(s0:s1:as0:s1:b)s0:t1(s0:s1:c))",
        "ae36acc5b92f2fcb4f8ca329a0c1a34a0be6242184e04aa7458440548d493daa",
    ),
    "named-tuple": (
        "ts23:tests.unit.samples:Pair2(s0:s4:acmes0:s5:alice)",
        "b0d9120d4691c6a148d0c836267f88f52aeec80663ae61654fa306d73fe0b9e3",
    ),
    "attrs": (
        "ts28:tests.unit.samples:AttrsUser2(s6:tenants4:acmes4:users5:alice)",
        "c3ce88e5943c477d60461582a1a35447dd2dd202144ef3e0a57a5b533a8cd78e",
    ),
    "dataclass": (
        "ts32:tests.unit.samples:DataclassUser2(s6:tenants4:acmes4:useri7;)",
        "2ac3747b5dd03a7edafdaa06ff707c3e825c3759ff38b5f6415ea432ca0813af",
    ),
    "pydantic": (
        "ts28:tests.unit.samples:ModelUser2(s6:tenants4:acmes4:users5:alice)",
        "1215d9ece52dea766f571338b136ff397814d3949da45e125f55be22a5d25d4a",
    ),
    "scope_key": (
        "ks10:acme/alice",
        "47802e25a1c1364427e09c4b6d8bfc9aa0bb916c8f4d61a6df6d5aa6b572f0a9",
    ),
}

_PRINT_KEYS = """
from scoped_registration.scope import scope_text, storage_key
from tests.unit.samples import SAMPLES

for name, value in SAMPLES.items():
    print(name, storage_key("chat", scope_text(value), "t-1").removeprefix("sr1-"))
"""


def _context(scope: str = "alice", thread: str = "t-1") -> ScopeContext[str]:
    return ScopeContext("chat", scope, thread, scope_text(scope))


def test_p2_every_sample_has_a_golden_value() -> None:
    assert set(GOLDEN) == set(SAMPLES)


@pytest.mark.parametrize("name", GOLDEN)
def test_p2_golden_text(name: str) -> None:
    assert scope_text(SAMPLES[name]) == GOLDEN[name][0]


@pytest.mark.parametrize("name", GOLDEN)
def test_p2_golden_storage_key(name: str) -> None:
    assert storage_key("chat", scope_text(SAMPLES[name]), "t-1") == f"sr1-{GOLDEN[name][1]}"


def test_p2_golden_scope_digest() -> None:
    assert scope_digest("chat", scope_text("alice")) == (
        "sr1-2bf6abd4df809582696e359366bc2c12570029232f5a17092210d0d1d0d8ff11"
    )


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_p2_keys_are_stable_in_another_process(seed: str) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _PRINT_KEYS],
        cwd=root,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    printed = dict(line.split() for line in done.stdout.splitlines())
    assert printed == {name: golden for name, (_, golden) in GOLDEN.items()}


def test_p2_context_has_the_storage_key_of_its_parts() -> None:
    assert _context().storage_key == f"sr1-{GOLDEN['str'][1]}"


def test_context_tells_for_whom_it_is() -> None:
    context = _context("alice", "t-1")
    assert (context.scope, context.thread_id, context.registration) == ("alice", "t-1", "chat")


def test_current_is_refused_outside_a_lease_and_is_the_callers_value_inside() -> None:
    current = Current()
    context = ScopeContext("chat", "alice", "t-1", scope_text("alice"), current)
    with pytest.raises(RegistrationError, match="no lease") as caught:
        _ = context.current
    assert caught.value.code is ReasonCode.NO_CURRENT_LEASE
    current.scope = "alice-of-now"
    assert context.current == "alice-of-now"
    assert context.scope == "alice"
    current.scope = None
    with pytest.raises(RegistrationError):
        _ = context.current


def test_no_principal_in_the_repr_of_a_context() -> None:
    context = _context(_CANARY, f"thread-{_CANARY}")
    assert _CANARY not in repr(context)
    assert context.storage_key[:12] in repr(context)
    assert _CANARY not in context.storage_key


class _Thread(str):
    __slots__ = ()

    @override
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__

    @override
    def __len__(self) -> int:
        return 1


class _ThreadName(StrEnum):
    ONE = "thread-1"


@pytest.mark.parametrize(
    "thread",
    ["t", "0", "a b", "x" * 512, "\ud800x", "\U0001f600", "../../etc", "a\nb", "sr1-"],
    ids=ascii,
)
def test_thread_ids_that_pass(thread: str) -> None:
    assert check_thread_id(thread) == thread


@pytest.mark.parametrize(
    "thread", [_Thread("thread-1"), _ThreadName.ONE], ids=["subclass", "str-enum"]
)
def test_p2_a_thread_id_is_its_characters_alone(thread: str) -> None:
    """A subclass whose equality lies would meet the key of another thread."""
    checked = check_thread_id(thread)
    assert type(checked) is str
    assert checked == "thread-1"


class _Proxy:
    """What a lazy object looks like: `isinstance` believes it."""

    @override
    def __getattribute__(self, name: str) -> object:
        return getattr("thread-1", name)


@pytest.mark.parametrize(
    ("thread", "problem"),
    [
        (None, "is a NoneType, not a str"),
        (7, "is a int, not a str"),
        (True, "is a bool, not a str"),
        (b"t", "is a bytes, not a str"),
        (["t"], "is a list, not a str"),
        (_Proxy(), "_Proxy, not a str"),
        ("", "empty or blank"),
        ("  ", "empty or blank"),
        ("\t\n", "empty or blank"),
        ("\u200b\ufeff", "empty or blank"),
        ("\x00", "empty or blank"),
        ("x" * 513, "more than 512"),
        ("\U0001f600" * 513, "more than 512"),
        (_Thread("x" * 513), "more than 512"),
        (f"{_CANARY}" * 500, "more than 512"),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_p7_thread_ids_that_are_refused(thread: object, problem: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        check_thread_id(thread)
    assert caught.value.code is ReasonCode.THREAD_ID_INVALID
    assert problem in str(caught.value)
    assert _CANARY not in str(caught.value)
