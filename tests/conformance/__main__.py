"""Run the framework's own tests with their endpoints registered through the builder.

``python -m tests.conformance`` runs them unrouted first, then in each mode, and exits with 1
if a run differs from the unrouted one otherwise than ``differences.toml`` says. ``--mode``
chooses one mode. What follows ``--`` goes to pytest, for example ``-n auto``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from tests.conformance.differences import FILE, compare, read
from tests.conformance.suite import Mode, Outcome, SuiteError, fetch, run


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for, and say what is wrong: 0 nothing, 1 the product, 2 the run."""
    ours, theirs = _split(arguments)
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("--mode", type=Mode, choices=list(Mode), help="this one, after unrouted")
    chosen: Mode | None = parser.parse_args(ours).mode
    modes = [mode for mode in (Mode.SHARED, Mode.STRICT) if chosen in (None, mode)]
    try:
        return 1 if _run(modes, theirs) else 0
    except SuiteError as error:
        print(f"*** {error}", file=sys.stderr)
        return 2


def _run(modes: Sequence[Mode], pytest_arguments: Sequence[str]) -> int:
    expected = read(FILE.read_text())
    directory = fetch()
    print("\n== unrouted", flush=True)
    unrouted = run(directory, Mode.UNROUTED, pytest_arguments)
    _check_unrouted(unrouted, expected.count)
    wrong = 0
    for mode in modes:
        print(f"\n== {mode.value}", flush=True)
        differences = expected.of(mode)
        problems = list(compare(unrouted, run(directory, mode, pytest_arguments), differences))
        for problem in problems:
            print(f"  {problem}")
        print(f"{mode.value}: {len(differences)} expected differences, {len(problems)} problems")
        wrong += len(problems)
    return wrong


def _check_unrouted(outcomes: Mapping[str, Outcome], count: int) -> None:
    """Refuse to compare with a run that does not itself show what it should."""
    bad = sorted(test for test, outcome in outcomes.items() if outcome.outcome != "passed")
    if bad or len(outcomes) != count:
        raise SuiteError(
            f"unrouted, {count} tests should pass: {len(outcomes)} ran, and {len(bad)} did not "
            f"pass; a package may be missing: {bad[:5]}"
        )


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    if "--" not in arguments:
        return arguments, ()
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
