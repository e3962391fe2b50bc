"""P8: a forked child process leases and closes what is its own, and so does its parent."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PATIENCE = 60  # seconds until a deadlock between processes is a failure


FORK = """
    import asyncio, os, sys, warnings
    warnings.simplefilter("error")
    from scoped_registration import RegistrationBuilder, ScopedFactory

    managed, warm = sys.argv[1] == "managed", sys.argv[2] == "warm"
    built, closed = [], []

    class Chat:
        async def __aenter__(self):
            return self
        async def __aexit__(self, *_):
            closed.append(self)

    class PlainChat:
        async def aclose(self):
            closed.append(self)

    def scope() -> str: ...

    def build(context):
        built.append(Chat() if managed else PlainChat())
        return built[-1]

    registration = (
        RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=scope)).build()
    )

    async def lease():
        async with registration.lease("alice", "1") as chat:
            return chat

    async def lease_and_close():
        chat = await lease()
        await registration.aclose()
        assert closed[-1] is chat
        assert registration.statistics().live == 0

    if warm:
        before = asyncio.run(lease())
        assert managed or closed == []
    known = len(built), list(closed)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        asyncio.run(lease_and_close())
        assert len(closed) - len(known[1]) == 1
        os.write(write, b"closed")
        os._exit(0)
    os.close(write)
    assert os.read(read, 6) == b"closed"
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (len(built), closed) == known  # what the child did, it did to copies
    if warm and not managed:
        assert asyncio.run(lease()) is before
    asyncio.run(lease_and_close())
    assert len(closed) == len(set(map(id, closed))) == len(built)
    print("both served")
"""


@pytest.mark.parametrize("warmth", ["cold", "warm"])
@pytest.mark.parametrize("kind", ["closed", "managed"])
def test_a_child_process_leases_and_closes_what_is_its_own(
    kind: str, warmth: str, debug: bool
) -> None:
    mode = ["-X", "dev"] if debug else []
    done = subprocess.run(
        [sys.executable, *mode, "-c", textwrap.dedent(FORK), kind, warmth],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("both served\n", 0), done.stderr
