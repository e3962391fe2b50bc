"""mypy reports an unknown keyword on the call; its message names the keyword."""


def function(value: int) -> None: ...


function(  # red: mypy
    1,
    scope=2,  # red: pyright, ty, pyrefly, zuban
)
