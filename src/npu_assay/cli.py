"""The command line: which module holds which command, and errors turned into exit codes. No logic."""

import errno
import sys

import click

from npu_assay import __version__
from npu_assay.errors import AssayError, UnusableError
from npu_assay.lazy import LazyGroup
from npu_assay.pipeline.interruption import stopping

#: Command name -> where its click command is. One line a command; the module is imported when it is used.
COMMANDS = {
    "archive": "npu_assay.commands.archive:archive",
    "build": "npu_assay.commands.build:build",
    "cann": "npu_assay.commands.cann:cann",
    "claims": "npu_assay.commands.claims:claims",
    "compare": "npu_assay.commands.compare:compare",
    "device": "npu_assay.commands.device:device",
    "docker": "npu_assay.commands.docker:docker",
    "doctor": "npu_assay.commands.doctor:doctor",
    "emulator": "npu_assay.commands.emulator:emulator",
    "env": "npu_assay.commands.env:env",
    "report": "npu_assay.commands.report:report",
    "run": "npu_assay.commands.run:run",
    "verify": "npu_assay.commands.verify:verify",
}


@click.group(
    cls=LazyGroup,
    commands_at=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="npu-assay")
def cli() -> None:
    """Build, test and prove a patched vLLM-Ascend.

    `./assay test [ARGS]`, which passes the project's own tests, is the launcher's: ARGS go to pytest.
    """


def main() -> None:
    """Run the command line; an AssayError, or what the system refuses, ends it with one line and a code."""
    try:
        with stopping():  # so that whatever was started is ended too
            cli()
    except AssayError as error:
        click.echo(f"npu-assay: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        if error.filename is None and not full:
            raise  # no file's fault, so ours
        what = f"can't write {error.filename or 'the output'}" if full else f"can't use {error.filename}"
        click.echo(f"npu-assay: {what}: {error.strerror}", err=True)
        sys.exit(UnusableError.exit_code)


if __name__ == "__main__":
    main()
