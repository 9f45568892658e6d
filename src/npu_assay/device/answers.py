"""What npu-smi said of one host: each output with where it is from and which chip was asked for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from npu_assay.device.npu_smi.info import Info
from npu_assay.device.npu_smi.listing import Listing
from npu_assay.device.npu_smi.mapping import ChipMapping
from npu_assay.device.npu_smi.recognise import Output
from npu_assay.errors import UsageError

T = TypeVar("T", bound=Output)


@dataclass(frozen=True)
class Answer:
    """One output. Not every one names its chip: `npu_id` and `chip_id` are what was asked for."""

    source: str
    """A file, or the command line."""
    output: Output
    npu_id: int | None = None
    chip_id: int | None = None
    ends_within_line: bool = False
    """Whether no line break ends it. In a table the bars show what is whole; elsewhere a value may be cut."""


@dataclass(frozen=True)
class Answers:
    """All outputs of one host."""

    all: tuple[Answer, ...]

    @classmethod
    def of_one_host(cls, answers: Iterable[Answer]) -> "Answers":
        """Raises UsageError when there is more than one `info`, `-m` or `-l`: they are of several hosts."""
        together = cls(tuple(answers))
        for words, kind in (("info", Info), ("info -m", ChipMapping), ("info -l", Listing)):
            sources = [answer.source for answer in together.all if isinstance(answer.output, kind)]
            if len(sources) > 1:
                raise UsageError(
                    f"{' and '.join(sources)} both hold npu-smi {words}; give the output of one host"
                )
        return together

    def of(self, kind: type[T]) -> list[tuple[Answer, T]]:
        """The answers of one kind."""
        return [(answer, answer.output) for answer in self.all if isinstance(answer.output, kind)]

    def one(self, kind: type[T]) -> T | None:
        """The only answer of that kind, if there is one."""
        return next((output for _, output in self.of(kind)), None)
