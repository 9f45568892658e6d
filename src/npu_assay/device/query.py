"""Ask npu-smi, and keep what it said as the bytes that came."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from npu_assay.device.npu_smi.mapping import ChipMapping
from npu_assay.device.npu_smi.recognise import Output, parse_npu_smi
from npu_assay.device.stored import Outputs, collect
from npu_assay.errors import AssayError, UnusableError, UsageError

#: npu-smi hangs on some sick devices; a healthy one answers within a few seconds.
_SECONDS = 60


class NpuSmi:
    """npu-smi of an environment. What it says is kept in files in `raw`, if given, before it is parsed."""

    def __init__(self, variables: Mapping[str, str], raw: Path | None = None) -> None:
        program = shutil.which("npu-smi", path=variables.get("PATH", ""))
        if program is None:
            raise UnusableError(
                "npu-smi is not on PATH; load an environment's variables, or give stored output with --from"
            )
        self._program = program
        self._variables = variables
        self._raw = raw

    def outputs(self) -> Outputs:
        """What health is judged by: info, info -m, info -l, and -t health of every usable chip."""
        mapping = self._mapping()
        parsed: dict[str, Output] = {
            "npu-smi info": self._ask("npu-smi-info", "info"),
            "npu-smi info -m": mapping,
            "npu-smi info -l": self._ask("npu-smi-info-l", "info", "-l"),
        }
        for chip in mapping.chips:
            if chip.usable:
                npu, number = str(chip.npu_id), str(chip.chip_id)
                words = ("info", "-t", "health", "-i", npu, "-c", number)
                parsed[f"npu-smi {' '.join(words)}"] = self._ask(f"npu-smi-health-{npu}-{number}", *words)
        return collect(parsed)

    def count_dies(self) -> int:
        """How many dies can be used."""
        return sum(chip.usable for chip in self._mapping().chips)

    def _mapping(self) -> ChipMapping:
        mapping = self._ask("npu-smi-info-m", "info", "-m")
        if not isinstance(mapping, ChipMapping):
            raise UnusableError(f"npu-smi info -m: expected the chips, found {type(mapping).__name__}")
        return mapping

    def _ask(self, name: str, *words: str) -> Output:
        """Run npu-smi. Raises UnusableError when it can't be run, fails, or says what no parser knows."""
        asked = f"npu-smi {' '.join(words)}"
        try:
            done = subprocess.run(
                [self._program, *words],
                env=dict(self._variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise UnusableError(
                f"{asked}: no answer within {_SECONDS} s; the driver or the device hangs"
            ) from error
        except OSError as error:
            raise UnusableError(f"{asked}: can't be run ({error.strerror})") from error
        if self._raw is not None:
            self._store(name, done.stdout)
        try:
            output = parse_npu_smi(done.stdout, asked)
        except UsageError as error:
            raise UnusableError(f"{error} (exit code {done.returncode})") from error
        if done.returncode != 0:
            raise UnusableError(f"{asked}: exit code {done.returncode}, although its output looks whole")
        return output

    def _store(self, name: str, data: bytes) -> None:
        assert self._raw is not None
        try:
            self._raw.mkdir(parents=True, exist_ok=True)
            (self._raw / f"{name}.txt").write_bytes(data)
        except OSError as error:
            raise AssayError(
                f"{self._raw}: npu-smi's output can't be kept here ({error.strerror})"
            ) from error
