"""Ask npu-smi, and keep what it said as the bytes that came."""

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from npu_assay.device.answers import Answer, Answers
from npu_assay.device.npu_smi.errors import CutShortError, MissingToolError, NoAnswerError
from npu_assay.device.npu_smi.health import HEALTHY
from npu_assay.device.npu_smi.info import Info
from npu_assay.device.npu_smi.mapping import ChipMapping, MappedChip
from npu_assay.device.npu_smi.recognise import cut_of, parse_npu_smi
from npu_assay.device.stored import raw_name
from npu_assay.errors import AssayError, UnusableError, UsageError

#: npu-smi hangs on some sick devices; a healthy one answers within a few seconds.
PATIENT_SECONDS = 60.0
_AT_ONCE = 8

Health = Literal["all", "unhealthy", "none"]
"""Which chips -t health is asked for; unhealthy: those that `info` calls so, for their error codes."""


@dataclass(frozen=True)
class Question:
    """One call of npu-smi."""

    what: str
    """Names the file that its answer is kept in."""
    words: tuple[str, ...]
    npu_id: int | None = None
    chip_id: int | None = None

    def __str__(self) -> str:
        return " ".join(("npu-smi", *self.words))


INFO = Question("info", ("info",))
MAPPING = Question("info-m", ("info", "-m"))
LISTING = Question("info-l", ("info", "-l"))


def health_of(chip: MappedChip) -> Question:
    """The 950, which has no logical ids, does not take -c (SwanLab#1719)."""
    words: tuple[str, ...] = ("info", "-t", "health", "-i", str(chip.npu_id))
    if chip.logical_id is not None:
        words += ("-c", str(chip.chip_id))
    return Question("health", words, chip.npu_id, chip.chip_id)


def remap_of(physical_id: int) -> Question:
    return Question(f"phyid-remap-{physical_id}", ("info", "-t", "phyid-remap", "-p", str(physical_id)))


def _is_asked(chip: MappedChip, info: Info | None, health: Health) -> bool:
    if health == "unhealthy":
        shown = [die for die in info.dies if die.npu_id == chip.npu_id] if info else []
        return any(die.chip_id in (None, chip.chip_id) and die.health != HEALTHY for die in shown)
    return health == "all"


@dataclass(frozen=True)
class Survey:
    """What several questions came to."""

    answers: Answers
    failures: tuple[AssayError, ...]
    """One for each question that was not answered, in the order of the questions."""


class NpuSmi:
    """npu-smi of an environment. What it says is kept in files in `raw`, if given, before it is parsed."""

    def __init__(
        self, variables: Mapping[str, str], raw: Path | None = None, seconds: float = PATIENT_SECONDS
    ) -> None:
        """Raises MissingToolError when there is none on PATH."""
        program = shutil.which("npu-smi", path=variables.get("PATH", ""))
        if program is None:
            raise MissingToolError("npu-smi", "not on PATH; give stored output with --from")
        self.program = Path(program)
        self._variables = variables
        self._raw = raw
        self._seconds = seconds

    def answers(self, *, health: Health = "all", nodes: Iterable[int] = ()) -> Answers:
        """What dies are judged by. Raises on any failure."""
        survey = self.survey(health=health, nodes=nodes)
        if survey.failures:
            raise survey.failures[0]
        return survey.answers

    def survey(self, *, health: Health = "all", nodes: Iterable[int] = ()) -> Survey:
        """info, -m, -l, -t health of usable chips; and -t phyid-remap for `nodes`, the N of /dev/davinciN.

        That last one only for ids that -m does not show; it may fail, which leaves them unknown.
        """
        answered, failures = self._ask_all((INFO, MAPPING, LISTING))
        info = next((one.output for one in answered if isinstance(one.output, Info)), None)
        mapping = next((one.output for one in answered if isinstance(one.output, ChipMapping)), None)
        chips = [chip for chip in mapping.chips if chip.usable] if mapping else []
        more, more_failures = self._ask_all(
            health_of(chip) for chip in chips if _is_asked(chip, info, health)
        )
        answered, failures = answered + more, failures + more_failures
        if any(chip.logical_id is None or chip.physical_id is None for chip in chips):
            remapped, _ = self._ask_all(map(remap_of, nodes))
            answered += remapped
        return Survey(Answers.of_one_host(answered), tuple(failures))

    def _ask_all(self, questions: Iterable[Question]) -> tuple[list[Answer], list[AssayError]]:
        def ask(question: Question) -> Answer | AssayError:
            try:
                return self.ask(question)
            except AssayError as error:
                return error

        with ThreadPoolExecutor(_AT_ONCE) as pool:  # each waits for a process of its own
            results = list(pool.map(ask, questions))
        answers = [result for result in results if isinstance(result, Answer)]
        return answers, [result for result in results if isinstance(result, AssayError)]

    def ask(self, question: Question) -> Answer:
        """Run npu-smi once.

        Raises UnusableError when it can't be run, fails, is not understood, or ends before its end.
        """
        said, code = self._run(question)
        if self._raw is not None:
            self._store(raw_name(question.what, question.npu_id, question.chip_id), said)
        try:
            output = parse_npu_smi(said, str(question))
        except UsageError as error:
            raise UnusableError(f"{error} (exit code {code})") from error
        if (cut := cut_of(output)) is not None:
            raise CutShortError(str(question), cut)
        if code != 0:
            raise UnusableError(f"{question}: exit code {code}, although its output looks whole")
        return Answer(str(question), output, question.npu_id, question.chip_id)

    def _run(self, question: Question) -> tuple[bytes, int]:
        """What npu-smi printed, stderr in it, and its exit code."""
        try:
            process = subprocess.Popen(
                [self.program, *question.words],
                env=dict(self._variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise MissingToolError(str(question), f"can't be run ({error.strerror})") from error
        try:
            said, _ = process.communicate(timeout=self._seconds)
        except subprocess.TimeoutExpired as error:
            process.kill()  # and no wait: a process that hangs in the driver does not die until it comes back
            raise NoAnswerError(str(question), self._seconds) from error
        return said, process.returncode

    def _store(self, name: str, data: bytes) -> None:
        assert self._raw is not None
        try:
            self._raw.mkdir(parents=True, exist_ok=True)
            (self._raw / name).write_bytes(data)
        except OSError as error:
            raise UnusableError(
                f"{self._raw}: npu-smi's output can't be kept here ({error.strerror})"
            ) from error
