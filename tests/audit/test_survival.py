"""Every file of the standard library and of the installed packages is survived.

A sample in an ordinary run. All of them with SCOPED_REGISTRATION_SCAN_ALL=1, in some minutes.
"""

from __future__ import annotations

import ast
import os
import sysconfig
import warnings
from pathlib import Path

import pytest

from scoped_registration.audit.checks import check_module
from scoped_registration.audit.names import Index
from scoped_registration.audit.scan import UnreadableSourceError, scan_source

ALL = os.environ.get("SCOPED_REGISTRATION_SCAN_ALL") == "1"
STDLIB, PACKAGES = (Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib"))
ONE_OF = 1 if ALL else 20


def _sample(directory: Path) -> list[Path]:
    files = sorted(directory.rglob("*.py"))
    own = [path for path in files if directory is PACKAGES or "site-packages" not in path.parts]
    return own[::ONE_OF]


@pytest.mark.parametrize("directory", [STDLIB, PACKAGES], ids=["stdlib", "packages"])
def test_every_file_is_read_or_refused_as_the_parser_does(directory: Path) -> None:
    files = _sample(directory)
    assert len(files) > 10
    found: list[str] = []
    for path in files:
        source = path.read_bytes()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            with pytest.raises(UnreadableSourceError):
                scan_source(source, path)
            continue
        found.extend(f"{path}: {one.rule}" for one in scan_source(source, path))
        # The rules read nothing in a file that names no package of theirs: read it all the same.
        assert list(check_module(tree)) == [] or found
    assert found == []


_INSIDE = {"jj", "kk", "ll", "mm", "nn", "pp", "qq", "ss", "uu", "xx"}


def test_every_binding_that_python_knows_is_known() -> None:
    source = """
import a, b.c, d.e as f
from g import h as i
from .j import k
l = m = 1
(n, [o, *p]) = q
r: int = 1
s += 1
(t := 1)
for u, v in w: pass
with x as y, z as (aa, bb): pass
try: pass
except E as cc: pass
match dd:
    case [ee, *ff] | {"x": ee, **ff} as gg: pass
    case hh: pass
def ii(jj, /, kk, *ll, mm, **nn):
    global oo
    oo = 1
    pp = 1
    def qq():
        nonlocal pp
        pp = 2
class rr: ss = 1
del tt
[uu for uu in vv if (ww := uu)]
lambda xx: xx
"""
    index = Index(ast.parse(source))
    of_module = "abfiklmnoprstuvy", "aa bb cc ee ff gg hh ii oo rr tt ww"
    assert set(index.module.names) == {*of_module[0], *of_module[1].split()}
    inside = {name for scope in index.scopes.values() for name in scope.names}
    assert inside - set(index.module.names) == _INSIDE
    (function,) = [it for it in index.scopes.values() if "pp" in it.names]
    assert len(function.names["pp"]) == 2


@pytest.mark.parametrize(
    "program",
    [
        "a = b\nb = a\nScopedFactory(lambda c: a, scope=a)",
        "def f(c): return f(c)\nScopedFactory(f, scope=f)",
        "f = lambda c: f(c)\nScopedFactory(f, scope=f)",
        "def f(c):\n    x = x\n    return x\nScopedFactory(f, scope=f)",
        "a = (a if b else b) or a\nb = (a if a else b) or b\nScopedFactory(a, scope=lambda: b)",
        "ScopedFactory(" + "lambda c: " * 80 + "c, scope=0)",
        "x = 1\n" + "".join(f"x{n} = x{n + 1} or x{n + 1}\n" for n in range(40))
        + "ScopedFactory(lambda c: x0, scope=lambda: x0)",
        "".join(f"def f{n}(c): return f{n + 1}(c) or f{n + 1}(0) or f{n + 1}\n" for n in range(40))
        + "ScopedFactory(f0, scope=f0)",
        "x = ScopedFactory" + ".y()" * 500 + "\nScopedFactory(x, scope=x)",
        "x = x.y\n" * 50 + "x.z()\nScopedFactory(x, scope=x.y)",
        "class A(A): a = A.a\nScopedFactory(lambda c: A.a, scope=A.a)",
    ],
)  # fmt: skip
def test_what_goes_in_circles_ends(program: str) -> None:
    source = f"from scoped_registration import ScopedFactory\n{program}\n"
    assert scan_source(source.encode(), Path("app.py")) == []
