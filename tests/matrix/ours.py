"""Our side: every registration that the builder admits or refuses, and what is promised of it."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import Enum
from typing import Any

import attrs
from agent_framework import InMemoryCheckpointStorage
from agent_framework_ag_ui import InMemoryAGUIThreadSnapshotStore
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import (
    PersistentShared,
    ReasonCode,
    RegistrationError,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.agent_framework import per_run
from scoped_registration.manifest import Description
from scoped_registration.stores.memory import MemoryStore
from scoped_registration.testing import IsolationReport, Recorder, probe_isolation
from scoped_registration.testing.agent_framework import (
    RecordedCheckpoints,
    RecordedSnapshots,
    RecordingChatClient,
)
from tests.integrations.agent_framework.kit import acknowledge, current_user, declare
from tests.matrix.captures import CAPTURES
from tests.matrix.procedure import USERS, Played, SaidTwice, play
from tests.matrix.subject import Subject
from tests.matrix.targets import TARGETS

# Any: no checker is to see which target a mode is given.

__all__ = ["CELLS", "OPTIONS", "SUBJECTS", "Cell", "Mode", "Options", "Outcome", "probe", "run"]


SUBJECTS: dict[str, Subject] = {
    **TARGETS,
    **{f"factory captures: {name}": subject for name, subject in CAPTURES.items()},
}


class Mode(Enum):
    """A mode, and whether it is given a target or a factory."""

    SINGLE_USER = "SingleUser(target)"
    PER_THREAD = "SingleUser.per_thread(factory)"
    SCOPED = "ScopedFactory(factory)"
    SCOPED_OBJECT = "ScopedFactory(target)"
    PER_RUN = "per_run(target)"
    SHARED = "PersistentShared(target)"
    SHARED_ACCESS = "PersistentShared(target, access)"

    @property
    def takes_factory(self) -> bool:
        """Whether it is given what builds targets."""
        return self in {Mode.PER_THREAD, Mode.SCOPED}

    @property
    def per_principal(self) -> bool:
        """Whether it says that callers differ, and are kept apart."""
        return self in {Mode.SCOPED, Mode.SCOPED_OBJECT, Mode.PER_RUN}

    @property
    def shared(self) -> bool:
        """Whether it says that callers differ, and share."""
        return self in {Mode.SHARED, Mode.SHARED_ACCESS}


@attrs.frozen
class Options:
    """Which options are declared."""

    snapshots: bool = False
    checkpoints: bool = False
    detached: bool = False
    persisted: bool = False

    @property
    def names(self) -> list[str]:
        """Those that are, by name."""
        return [name for name, given in attrs.asdict(self).items() if given]


OPTIONS = [Options(*given) for given in itertools.product((False, True), repeat=4)]


@attrs.frozen
class Cell:
    """One registration."""

    subject: str
    mode: Mode
    options: Options

    @property
    def of(self) -> Subject:
        """What is registered."""
        return SUBJECTS[self.subject]

    @property
    def hidden(self) -> bool:
        """Whether its principals share what nothing here looks for; see `Subject.hidden`."""
        where = Mode.PER_RUN if self.of.capturing is None else Mode.SCOPED
        return self.of.hidden and self.mode is where

    @override
    def __str__(self) -> str:
        return ", ".join([self.subject, self.mode.value, *self.options.names])


CELLS = [
    Cell(name, mode, options)
    for name, mode, options in itertools.product(SUBJECTS, Mode, OPTIONS)
    if mode.takes_factory or SUBJECTS[name].make is not None
]


@attrs.frozen
class Outcome:
    """What became of a registration.

    Attributes:
        refused: The code with which it was not declared.
        codes: The codes that the log names: what was refused while it served.
        played: The five requests.
        described: The registration, as the manifest has it.
        openapi: What the operation of the OpenAPI document says of it.
    """

    refused: ReasonCode | None = None
    codes: frozenset[ReasonCode] = frozenset()
    played: Played | None = None
    described: Description | None = None
    openapi: str = ""

    @property
    def leaks(self) -> bool:
        """Whether a principal's text reached another's model call, or a row that it wrote."""
        played = self.played
        return played is not None and bool(
            played.between_principals or played.stored_between_principals
        )

    @property
    def served(self) -> bool:
        """Whether each of the five requests was."""
        return self.played is not None and not self.played.refused


def mount(cell: Cell, recorder: Recorder) -> tuple[FastAPI, Any]:
    """Declare and mount a registration in which everything is new.

    Raises:
        RegistrationError: It was refused.
    """
    app = FastAPI()
    client = RecordingChatClient(recorder)
    stage = declare(_MODES[cell.mode](cell.of, client))
    options = cell.options
    if options.snapshots:
        stage = stage.snapshots(RecordedSnapshots(InMemoryAGUIThreadSnapshotStore(), recorder))
    if options.checkpoints:
        stage = stage.checkpoints(RecordedCheckpoints(InMemoryCheckpointStorage(), recorder))
    if options.detached:
        stage = stage.detached()
    if options.persisted:
        stage = stage.persisted(MemoryStore())
    return app, stage.mount(app)


_MODES: dict[Mode, Callable[[Subject, Any], Any]] = {
    Mode.SINGLE_USER: lambda of, client: SingleUser(of.target(client)),
    Mode.PER_THREAD: lambda of, client: SingleUser.per_thread(of.factory(client)),
    Mode.SCOPED: lambda of, client: ScopedFactory(of.factory(client), scope=current_user),
    Mode.SCOPED_OBJECT: lambda of, client: ScopedFactory(of.target(client), scope=current_user),
    Mode.PER_RUN: lambda of, client: per_run(of.target(client), scope=current_user),
    Mode.SHARED: lambda of, client: PersistentShared(
        of.target(client), acknowledgement=acknowledge()
    ),
    Mode.SHARED_ACCESS: lambda of, client: PersistentShared(
        of.target(client), acknowledgement=acknowledge(), access=current_user
    ),
}


async def run(cell: Cell) -> Outcome:
    """Register, and play the five requests if it is accepted."""
    recorder = Recorder()
    try:
        app, registration = mount(cell, recorder)
    except RegistrationError as error:
        return Outcome(refused=error.code)
    with _logged() as codes:
        played = await play(app, recorder)
    return Outcome(
        codes=frozenset(codes),
        played=played,
        described=registration.describe(),
        openapi=str(app.openapi()["paths"]["/"]["post"]),
    )


async def probe(cell: Cell, *, continuity: bool) -> IsolationReport:
    """Register it anew, and let the kit's probe say whether its principals are kept apart."""
    recorder = Recorder()
    app, _ = mount(cell, recorder)
    return await probe_isolation(
        app, SaidTwice("/"), USERS, recorder=recorder, continuity=continuity, overlap=False
    )


@contextmanager
def _logged() -> Generator[set[ReasonCode], None, None]:
    """Collect the codes that the library logs: a client is told none of them."""
    codes: set[ReasonCode] = set()

    class Reader(logging.Handler):
        @override
        def emit(self, record: logging.LogRecord) -> None:
            found = re.search(r"\[(\w+)\]", record.getMessage())
            if found is not None and found[1] in set(ReasonCode):
                codes.add(ReasonCode(found[1]))

    reader, log = Reader(logging.ERROR), logging.getLogger("scoped_registration")
    log.addHandler(reader)
    try:
        yield codes
    finally:
        log.removeHandler(reader)
