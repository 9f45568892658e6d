"""Progress of an installation on standard error: one line a step, with its time."""

import click


class EchoProgress:
    """Prints a step's name when it begins and its time when it ends, on one line."""

    def __init__(self) -> None:
        self._open = ""

    def begin(self, step: str) -> None:
        """A step begins."""
        self._open = f"{step:<12} "
        click.echo(self._open, err=True, nl=False)

    def end(self, step: str, seconds: float | None) -> None:
        """It is done."""
        line = "already done" if seconds is None else f"{seconds:6.1f} s"
        click.echo(line if self._open else f"{step:<12} {line}", err=True)
        self._open = ""

    def fail(self, step: str) -> None:
        """It failed; why is said by the error."""
        click.echo("failed", err=True)
        self._open = ""

    def note(self, line: str) -> None:
        """Something else worth a line."""
        click.echo(f"\n{line}" if self._open else line, err=True)
        if self._open:
            click.echo(self._open, err=True, nl=False)
