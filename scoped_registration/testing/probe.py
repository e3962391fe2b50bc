"""The probe: several principals use an application, each with a text that nobody else may see.

It drives any ASGI application through its routes, in this process: first one request after
another, then overlapping ones, then once more one after another. Each principal says a
canary of its own on each of its threads; a leak is a canary that is seen where it does not
belong, a session that two principals have in common, or a principal who is refused because
of another one. A verdict of isolation needs the controls as well: that what is looked for can be
seen at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypedDict

from scoped_registration.testing.exchange import Exchange
from scoped_registration.testing.findings import Control
from scoped_registration.testing.ledger import Ledger
from scoped_registration.testing.pending import Pending
from scoped_registration.testing.recorders import Recorder
from scoped_registration.testing.report import IsolationReport
from scoped_registration.testing.requests import RequestMaker
from scoped_registration.testing.run import Run
from scoped_registration.testing.serving import ASGIApp, Visitors, lifespan_of

__all__ = ["Options", "probe_isolation"]

_PRINCIPALS = 2


class Options(TypedDict, total=False):
    """The options of `probe_isolation`, for what hands them on."""

    threads: int
    recorder: Recorder | None
    continuity: bool
    threads_share: bool
    foreign: bool
    overlap: bool
    pending: Pending | None
    lifespan: bool
    request_timeout: float
    overlap_timeout: float


async def probe_isolation(
    app: ASGIApp,
    requests: RequestMaker,
    principals: Sequence[Mapping[str, str]],
    *,
    threads: int = 2,
    recorder: Recorder | None = None,
    continuity: bool = True,
    threads_share: bool = False,
    foreign: bool = True,
    overlap: bool = True,
    pending: Pending | None = None,
    lifespan: bool = True,
    request_timeout: float = 30.0,
    overlap_timeout: float = 5.0,
) -> IsolationReport:
    """Find out whether an application keeps its principals apart.

    Args:
        app: Any ASGI application. It is started, used and shut down in this event loop.
        requests: How the route under test is asked: an `AGUIRoute`, a `JSONRoute`, or yours.
        principals: For each principal the headers that tell who it is. Two at least.
        threads: How many threads each principal has.
        recorder: Tells what reaches the model, and what is stored. Without one only answers
            are seen, and they must repeat what was said in the turn before.
        continuity: The application promises that a turn remembers the one before it on the
            same thread. False where the client sends the conversation each time.
        threads_share: One principal's threads may see each other.
        foreign: Each principal also uses the id of another one's thread, and of another
            one's message. To refuse that is as good as to serve it as something new.
        overlap: Requests of all principals on all threads are also sent at once, and each
            principal speaks while another one's request is held under way.
        pending: How the application comes to wait for a person, such as `AGUIPending`. Then
            each principal also speaks while a question to another one is open, and tries to
            answer it.
        lifespan: Start the application, and shut it down. False if it runs already.
        request_timeout: Seconds that start-up, shutdown and each request may take.
        overlap_timeout: Seconds for which overlapping requests wait for one another, at most
            a third of `request_timeout`. When they are over, the report says that the
            application did not let them overlap.

    Returns:
        What was seen. Its `verdict` is `ISOLATED` only if each control held.

    Raises:
        ValueError: There are fewer than two principals, or no thread.

    Example:
        ```python
        report = await probe_isolation(
            app,
            JSONRoute("/chat/{thread}?text={text}"),
            [{"x-user": "alice"}, {"x-user": "bob"}],
        )
        assert report.verdict is Verdict.ISOLATED, str(report)
        ```
    """
    if len(principals) < _PRINCIPALS:
        raise ValueError("isolation is between principals: give the headers of two at least")
    if threads < 1:
        raise ValueError("each principal needs a thread")
    labelled = {f"p{number}": headers for number, headers in enumerate(principals, 1)}
    exchange = Exchange(requests, Ledger(threads_share=threads_share), recorder is not None)
    run = Run(exchange, list(labelled), threads, continuity, threads_share, request_timeout)
    if exchange.tells_apart(principals):
        async with AsyncExitStack() as stack:
            state: dict[str, Any] = {}  # what applications hand from their lifespan to requests
            running = None
            if lifespan:
                running = await stack.enter_async_context(lifespan_of(app, request_timeout))
                state = running.state
            if running is None or running.failure is None:
                exchange.visitors = Visitors(app, state, request_timeout)
                if recorder is not None:
                    stack.enter_context(recorder.heard_by(run))
                await stack.enter_async_context(exchange.visitors.come(labelled))
                await run.play(
                    foreign=foreign,
                    overlap_timeout=overlap_timeout if overlap else None,
                    pending=pending,
                )
        if running is not None:
            exchange.check(Control.LIFESPAN, running.failure)
    return run.report()
