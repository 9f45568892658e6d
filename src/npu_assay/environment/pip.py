"""pip inside an environment: hashes always checked, nothing resolved at install time."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from npu_assay.environment.folder import VenvFolder
from npu_assay.logged import pip_error, run_logged


def pip_command(python: Path | str, *arguments: str) -> list[str]:
    """The command of a Python's pip: it neither asks questions nor looks for a newer pip."""
    return [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]


def pip_install(
    environment: VenvFolder,
    step: str,
    requirements: Path | Sequence[str],
    *options: str,
    extra: Mapping[str, str] | None = None,
) -> None:
    """Install requirements that carry their hashes: a file, or lines, which are kept beside the step's stamp.

    pip takes the user's own settings (index, proxy, certificates). `extra` are variables of the build.
    Raises UnusableError with pip's own error and where the full log is.
    """
    if not isinstance(requirements, Path):
        lines, requirements = requirements, environment.root / "steps" / f"{step}.requirements.txt"
        requirements.write_text("".join(f"{line}\n" for line in lines))
    run_pip(
        environment,
        ["install", "--no-deps", "--require-hashes", "-r", str(requirements), *options],
        log=environment.root / "logs" / f"{step}.log",
        doing=f"step {step}: pip install",
        extra=extra,
    )


def run_pip(
    environment: VenvFolder,
    arguments: Sequence[str],
    *,
    log: Path,
    doing: str,
    extra: Mapping[str, str] | None = None,
    telling: Callable[[str], str] = pip_error,
) -> None:
    """Run the environment's pip. Raises UnusableError with its error, which `telling` finds, and the log."""
    run_logged(
        pip_command(environment.python, *arguments),
        log,
        doing=doing,
        variables={**environment.build_variables(), **environment.pip_variables(), **(extra or {})},
        telling=telling,
    )
