"""Which calls are looked at, and what is asked of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import attrs

from scoped_registration.audit.expressions import argument, through
from scoped_registration.audit.factories import check_factory, is_builder, is_instance
from scoped_registration.audit.faults import Place
from scoped_registration.audit.names import Index, Scope
from scoped_registration.audit.resolvers import check_resolver
from scoped_registration.audit.rules import CACHED_STATE, NO_MODE, SHARED_TARGET, Rule
from scoped_registration.audit.symbols import symbol
from scoped_registration.audit.values import Kind, Reader

__all__ = ["CALLS", "Hit", "check_module"]

CALLS = (
    *(b"add_agent_framework_fastapi_endpoint", b"AgentFrameworkWorkflow", b"WorkflowState"),
    *(b"ScopedFactory", b"per_thread", b"SingleUser", b"PersistentShared", b"per_run"),
    b"isolation",
)
"""What is looked at; a file that names none of them holds nothing to find."""

_SHARED_TARGETS = {
    Kind.WORKFLOW: "a Workflow",
    Kind.WORKFLOW_AGENT: "an agent that runs one workflow",
    Kind.WORKFLOW_RUNNER: "an AgentFrameworkWorkflow of one workflow",
    Kind.AGENT_RUNNER: "an AgentFrameworkAgent of an agent that runs one workflow",
}
_REGISTERING = ("RegistrationBuilder", "AGUIEndpointBuilder")
# The places of the endpoint function's parameters.
_TARGET, _SNAPSHOT_SCOPE, _SCOPE, _SINGLE_USER = 1, 10, 17, 18


@attrs.frozen(eq=False)
class Hit:
    """A rule that an argument of a call breaks."""

    rule: Rule
    message: str
    node: ast.expr
    call: ast.Call


def check_module(tree: ast.Module) -> Iterator[Hit]:
    """Yield what is found in a module, in the order of its calls."""
    index = Index(tree)
    checks = _Checks(Reader(index))
    for call, scope in index.calls:
        called = symbol(call.func, scope)
        if called is not None:
            yield from checks.of(called, call, scope)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "isolation":
            yield from checks.isolation(call.func.value, call, scope)


class _Checks:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def of(self, called: str, call: ast.Call, scope: Scope) -> Iterator[Hit]:
        match called:
            case "add_agent_framework_fastapi_endpoint":
                yield from self._endpoint(call, scope)
            case "AgentFrameworkWorkflow":
                given = argument(call, None, "workflow_factory")
                yield from self._factory(given, call, scope, "workflow_factory")
            case "WorkflowState":
                yield from self._workflow_state(call, scope)
            case "ScopedFactory":
                given = argument(call, 0, "factory")
                yield from self._factory(given, call, scope, called)
                yield from self._resolver("scope", call, scope)
            case "per_thread":
                given = argument(call, 0, "factory")
                yield from self._factory(given, call, scope, "SingleUser.per_thread")
                yield from self._resolver("owner", call, scope)
            case "SingleUser":
                yield from self._resolver("owner", call, scope)
            case "PersistentShared":
                yield from self._resolver("access", call, scope)
            case "per_run":
                yield from self._resolver("scope", call, scope)
            case _:
                pass

    def isolation(self, builder: ast.expr, call: ast.Call, scope: Scope) -> Iterator[Hit]:
        """Yield what is wrong with the mode that a builder is given."""
        begun, at = through(builder, scope)
        name = symbol(begun.func, at) if isinstance(begun, ast.Call) else None
        mode = argument(call, 0, "mode")
        if name not in _REGISTERING or mode is None:
            return
        if is_instance(self._reader, mode, scope):
            what = "an instance"
        elif is_builder(self._reader, mode, scope):
            what = "a builder"
        elif not isinstance(mode, ast.Call) and self._reader.functions(mode, scope):
            what = "a factory"
        else:
            return
        yield Hit(NO_MODE, f"isolation() wants a mode, and is given {what}", mode, call)

    def _factory(
        self, given: ast.expr | None, call: ast.Call, scope: Scope, where: str
    ) -> Iterator[Hit]:
        if given is not None:
            place = Place(where, argument(call, None, "shares"))
            for rule, message in check_factory(self._reader, given, scope, place):
                yield Hit(rule, message, given, call)

    def _resolver(
        self,
        name: str,
        call: ast.Call,
        scope: Scope,
        position: int | None = None,
        *,
        takes_body: bool = False,
    ) -> Iterator[Hit]:
        given = argument(call, position, name)
        if given is not None:
            faults = check_resolver(self._reader, given, scope, name, takes_body=takes_body)
            for rule, message in faults:
                yield Hit(rule, message, given, call)

    def _endpoint(self, call: ast.Call, scope: Scope) -> Iterator[Hit]:
        resolver, body_resolver = "authorization_scope_resolver", "snapshot_scope_resolver"
        yield from self._resolver(resolver, call, scope, _SCOPE)
        yield from self._resolver(body_resolver, call, scope, _SNAPSHOT_SCOPE, takes_body=True)
        single_user = argument(call, _SINGLE_USER, "single_user")
        if single_user is None:
            # **options may say single_user=True, unless a resolver is given already.
            named = {keyword.arg for keyword in call.keywords}
            is_open = None in named or any(isinstance(one, ast.Starred) for one in call.args)
            if is_open and not named & {resolver, body_resolver}:
                return
        elif not (isinstance(single_user, ast.Constant) and single_user.value is False):
            return
        target = argument(call, _TARGET, "agent")
        if target is None:
            return
        for kind in Kind:
            if kind in _SHARED_TARGETS and kind in self._reader.kinds(target, scope):
                message = f"the endpoint serves {_SHARED_TARGETS[kind]} to every caller"
                yield Hit(SHARED_TARGET, message, target, call)
                return

    def _workflow_state(self, call: ast.Call, scope: Scope) -> Iterator[Hit]:
        target = argument(call, 0, "target")
        if target is None or any(keyword.arg is None for keyword in call.keywords):
            return
        cache = argument(call, None, "cache_target")
        caches = cache is None or (isinstance(cache, ast.Constant) and cache.value is True)
        builders = is_builder(self._reader, target, scope)
        if Kind.WORKFLOW in self._reader.kinds(target, scope):
            message = "the WorkflowState serves one Workflow to every caller"
        elif Kind.BUILDER in builders:
            message = "all that the builder of the WorkflowState builds shares its parts"
        elif caches:
            message = "the WorkflowState keeps the first workflow that it gets for every caller"
        else:
            if isinstance(cache, ast.Constant) and not builders:
                yield from self._factory(target, call, scope, "WorkflowState")
            return
        yield Hit(CACHED_STATE, message, target, call)
