"""ruff and compileall: what they would have said."""

from mutations.forged import Forged
from mutations.mutation import Mutation

RUFF, COMPILEALL = "stages/ruff.log", "stages/compileall.log"
GOOD = "All checks passed!\n"
ERROR = "vllm_ascend/utils.py:1:8: F821 Undefined name `torch`\nFound 1 error.\n"


def _ruff(name: str, text: str | bytes) -> Mutation:
    return Mutation(f"ruff: {name}", lambda forged: forged.write(RUFF, text), "ruff", names=RUFF)


def _compileall(name: str, text: str | bytes) -> Mutation:
    return Mutation(
        f"compileall: {name}", lambda forged: forged.write(COMPILEALL, text), "compileall", names=COMPILEALL
    )


def _copy(forged: Forged, name: str, of: str) -> None:
    forged.write(name, forged.read(of))


MUTATIONS = (
    _ruff("an error", ERROR),
    _ruff("an error before the good line", ERROR + GOOD),
    _ruff("an error of another tool before the good line", "Traceback (most recent call last):\n" + GOOD),
    _ruff("nothing was checked", "warning: No Python files found under the given path(s)\n" + GOOD),
    _ruff("nothing was said", b""),
    _ruff("the good line twice", GOOD * 2),
    _ruff("the good line in another case", GOOD.lower()),
    _ruff("the good line within another", "not: " + GOOD),
    _ruff("another line after the good one", GOOD + "ruff failed\n"),
    _ruff("a carriage return hides an error", "Found 1 error.\r" + GOOD),
    _ruff("terminal codes hide an error", "Found 1 error.\x1b[1A\x1b[2K\n" + GOOD),
    _ruff("no such command", "python: No module named ruff\n"),
    Mutation(
        "ruff: the log of another stage",
        lambda forged: _copy(forged, RUFF, "stages/health.log"),
        "ruff",
        names=RUFF,
    ),
    _compileall("a byte", b"\n"),
    _compileall("an error", "*** Error compiling 'vllm_ascend/utils.py'...\n"),
    _compileall("a NUL", b"\0"),
    Mutation(
        "compileall: the log of another stage",
        lambda forged: _copy(forged, COMPILEALL, RUFF),
        "compileall",
        names=COMPILEALL,
    ),
)
