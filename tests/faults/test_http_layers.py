"""Bodies and background tasks that fail, behind whatever stands before a route (P5, P6)."""

from __future__ import annotations

from contextlib import suppress

import anyio
import pytest
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tests.faults.http_support import (
    LAYERS,
    LIMIT,
    BrokenError,
    Layer,
    Stage,
    Tasks,
    assert_free,
    unclosed,
)

pytestmark = unclosed

SPECS = {"a server that says so": False, "a server that raises": True}


@pytest.mark.parametrize("layer", LAYERS)
async def test_p5_a_body_that_raises_gives_its_lease_back_once(layer: Layer) -> None:
    tasks = Tasks()
    stage = Stage(layer, "reject")
    stage.fails = "body"
    stage.goes_on.set()
    async with stage.app.router.lifespan_context(stage.app):
        call = stage.call("stream")
        with pytest.raises((BrokenError, ExceptionGroup)), anyio.fail_after(LIMIT):
            await call.run()
        assert (call.status, call.body) == (200, b"first")
        assert_free(stage.registration)
        await stage.assert_released_once()
    assert stage.instances.closed == [1]
    await tasks.are_back()


@pytest.mark.parametrize("layer", LAYERS)
async def test_p5_a_background_task_that_raises_gives_its_lease_back_once(layer: Layer) -> None:
    tasks = Tasks()
    stage = Stage(layer, "reject")
    stage.fails = "background"
    stage.goes_on.set()
    async with stage.app.router.lifespan_context(stage.app):
        call = stage.call("stream")
        # Older releases of Starlette swallow it in a middleware: the answer is complete.
        with suppress(BrokenError, ExceptionGroup), anyio.fail_after(LIMIT):
            await call.run()
        assert call.body == b"firstlast"
        assert stage.background == [1], "the lease lives while background tasks run"
        assert_free(stage.registration)
        await stage.assert_released_once()
    assert stage.instances.closed == [1]
    await tasks.are_back()


@pytest.mark.parametrize("raises", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("layer", LAYERS)
async def test_p5_a_body_whose_first_byte_nobody_takes_gives_its_lease_back_once(
    layer: Layer, raises: bool
) -> None:
    tasks = Tasks()
    stage = Stage(layer, "reject")
    stage.goes_on.set()
    async with stage.app.router.lifespan_context(stage.app):
        call = stage.call("stream", leaves="before the request", raises=raises)
        await call.run_to_its_end()
        assert call.messages == []
        assert_free(stage.registration)
        await stage.assert_released_once()
    assert stage.instances.closed == [1]
    await tasks.are_back()


@pytest.mark.parametrize("raises", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("layer", LAYERS)
async def test_p5_a_response_that_a_middleware_throws_away_gives_its_lease_back_once(
    layer: Layer, raises: bool
) -> None:
    tasks = Tasks()
    stage = Stage(layer, "reject")
    thrown_away: list[int] = []

    async def dispatch(request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        if "stream" not in request.url.path or thrown_away:
            return response
        thrown_away.append(response.status_code)
        return PlainTextResponse("another one", 418)

    stage.app.add_middleware(BaseHTTPMiddleware, dispatch=dispatch)
    if raises:  # such a response does not listen, so it goes on to its end, to nobody
        stage.goes_on.set()
    async with stage.app.router.lifespan_context(stage.app):
        call = stage.call("stream", raises=raises)
        await call.run_to_its_end()
        assert (call.status, call.body) == (418, b"another one")
        assert thrown_away == [200], "control: there was a response"
        assert_free(stage.registration)
        await stage.assert_released_once()
    assert stage.instances.closed == [1]
    await tasks.are_back()


@pytest.mark.parametrize("layer", LAYERS)
async def test_p5_an_endpoint_that_raises_gives_its_lease_back_once(layer: Layer) -> None:
    tasks = Tasks()
    stage = Stage(layer, "reject")
    stage.fails = "endpoint"
    async with stage.app.router.lifespan_context(stage.app):
        call = stage.call("stream")
        with pytest.raises((BrokenError, ExceptionGroup)), anyio.fail_after(LIMIT):
            await call.run()
        assert call.status == 500
        assert_free(stage.registration)
        await stage.assert_released_once()
    assert stage.instances.closed == [1]
    await tasks.are_back()
