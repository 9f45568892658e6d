"""`npu-assay env` and `npu-assay emulator`, from outside: what they print and their exit codes."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import lock_names


def npu_assay(*arguments: str, cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command line."""
    variables = {**os.environ, **({"NPU_ASSAY_CACHE": str(cache)} if cache else {})}
    command = [sys.executable, "-m", "npu_assay", *arguments]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def test_env_list_tells_of_every_lock_what_it_is_for(tmp_path: Path) -> None:
    listed = npu_assay("env", "list", "--device", "emulated", cache=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, "")
    entries = re.split(r"^(?=\S)", listed.stdout, flags=re.MULTILINE)[1:]
    assert [entry.split()[0] for entry in entries] == lock_names()
    by_name = {entry.split()[0]: entry for entry in entries}
    assert "reproduces: offload groups (8,1) and (8,2): accuracy" in by_name["cann900-vllm018"]
    assert "emulator: yes" in by_name["cann900-vllm018"]
    assert "--device emulated: not installed" in by_name["cann900-vllm018"]
    assert "emulator: no, what it reproduces is a performance" in by_name["cann851-vllm018"]
    hardware = npu_assay("env", "list", "--device", "npu", cache=tmp_path).stdout
    assert "--device npu: can't be installed whole: triton-ascend: its sha256" in hardware


def test_env_show_tells_versions_and_deviations(tmp_path: Path) -> None:
    shown = npu_assay("env", "show", cache=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    for part in (
        "torch-npu",
        "2.9.0.post2",
        "9.0.0 (EMULATED)",
        "only the vendor's index has",
        "state   not installed",
    ):
        assert part in shown.stdout


def test_env_show_tells_the_hardware_variant_on_request(tmp_path: Path) -> None:
    emulated = npu_assay("env", "show", "cann900-vllm018-torch210", "--device", "emulated", cache=tmp_path)
    assert emulated.returncode == 0, emulated.stderr
    assert "9.0.0 (EMULATED)" in emulated.stdout
    assert re.search(r"^lmcache-ascend +absent\n +LMCache-Ascend's binding", emulated.stdout, re.MULTILINE)
    hardware = npu_assay("env", "show", "cann900-vllm018-torch210", "--device", "npu", cache=tmp_path)
    assert hardware.returncode == 0, hardware.stderr
    for part in (
        "reproduces: KV cache offloading",
        "9.0.0 (V100R001C10SPC001B250)",
        "file       Ascend-cann-toolkit_9.0.0_linux-{architecture}.run",
        "commit     79fc599dd2e3220de6cf8dd0d2b893549ed9d158",
        "note: Known defect of 79fc599",
        "unverified: cann, cann-ops, nnal; formal mode refuses",
    ):
        assert part in hardware.stdout


def test_the_variable_names_the_device_where_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPU_ASSAY_DEVICE", "npu")
    assert "variant: hardware" in npu_assay("env", "show", cache=tmp_path).stdout
    given = npu_assay("env", "show", "--device", "emulated", cache=tmp_path)
    assert "variant: emulated" in given.stdout
    monkeypatch.setenv("NPU_ASSAY_DEVICE", "moon")
    refused = npu_assay("env", "show", cache=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "'moon' is not one of 'auto', 'npu', 'emulated'" in refused.stderr


def test_env_show_of_a_lock_for_hardware_only_shows_that(tmp_path: Path) -> None:
    shown = npu_assay("env", "show", "cann851-vllm018", cache=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "variant: hardware (--device npu)" in shown.stdout
    refused = npu_assay("env", "show", "cann851-vllm018", "--device", "emulated", cache=tmp_path)
    assert refused.returncode == 4
    assert "is for an NPU only: what it reproduces is a performance" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("env", "show", "moon"), 2, "no environment 'moon'; there is cann851-vllm018, cann900-vllm018"),
        (("env", "install", "moon"), 2, "no environment 'moon'"),
        (("env", "install", "cann851-vllm018"), 4, "cann851-vllm018 is for an NPU only: "),
        (
            ("env", "install", "cann900-vllm018-torch210", "--device", "npu"),
            4,
            "lmcache-ascend: it is compiled from https://github.com/LMCache/",
        ),
        (("env", "install", "--step", "torch", "--again"), 2, "--again installs everything"),
        (
            ("env", "install", "--from", "/nowhere"),
            2,
            "--from /nowhere: no such folder; fill one with npu-assay env fetch cann900-vllm018 --to DIR",
        ),
        (
            ("env", "export", "--output", "/nowhere/x"),
            2,
            "can't write /nowhere/x: No such file or directory; name",
        ),
        (("env", "export", "--output", "/"), 2, "can't write /: Is a directory; name a file"),
        (("env", "fetch", "--to", "/etc/passwd"), 4, "can't write the files: /etc/passwd: File exists; "),
        (("env", "install", "--step", "moon"), 2, "no step 'moon'; there are system, python"),
        (("env", "install", "--step", "triton"), 4, "step triton needs step system, which is not done"),
        (("emulator", "build"), 4, "type: npu-assay env install cann900-vllm018"),
        (("emulator", "env"), 4, "type: npu-assay env install cann900-vllm018"),
    ],
)
def test_a_mistake_is_one_line_and_its_exit_code(
    tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    run = npu_assay(*arguments, cache=tmp_path)
    assert run.returncode == code
    assert run.stderr.startswith("npu-assay: ")
    assert run.stderr.count("\n") == 1
    assert says in run.stderr


def test_a_cache_that_cant_be_written_is_one_line(tmp_path: Path) -> None:
    good = npu_assay("env", "install", "--step", "system", cache=tmp_path / "cache")
    assert good.returncode == 0, good.stderr
    (tmp_path / "file").touch()
    bad = npu_assay("env", "install", "--step", "system", cache=tmp_path / "file")
    assert bad.returncode == 4
    assert "can't write the cache" in bad.stderr
    assert bad.stderr.count("\n") == 1


@pytest.mark.environment
def test_a_shell_that_takes_emulator_env_has_the_emulated_npu(environment: Environment) -> None:
    exports = npu_assay("emulator", "env")
    assert exports.returncode == 0, exports.stderr
    script = f"eval {shlex.quote(exports.stdout)}; npu-smi info | head -n 3; python -c 'import torch_npu'"
    run = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "emulated" in run.stdout
    info = npu_assay("emulator", "info")
    assert str(environment.cann.root) in info.stdout
    assert "EMULATED" in info.stdout


def test_the_variable_names_the_environment_where_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NPU_ASSAY_ENVIRONMENT", raising=False)
    assert npu_assay("env", "show", cache=tmp_path).stdout.startswith("cann900-vllm018: ")
    monkeypatch.setenv("NPU_ASSAY_ENVIRONMENT", "cann900-vllm0221")
    assert npu_assay("env", "show", cache=tmp_path).stdout.startswith("cann900-vllm0221: ")
    monkeypatch.setenv("NPU_ASSAY_ENVIRONMENT", "nonesuch")
    shown = npu_assay("env", "show", cache=tmp_path)
    assert (shown.returncode, shown.stderr.partition(";")[0]) == (2, "npu-assay: no environment 'nonesuch'")


@pytest.mark.environment
def test_env_exec_gives_any_program_the_environments_variables(environment: Environment) -> None:
    ask = "import os, sys; print(sys.prefix, os.environ['ASCEND_HOME_PATH'], sys.argv[1:])"
    ended = npu_assay("env", "exec", "--device", "emulated", "python", "-c", ask, "--help")
    home = environment.cann.cann_script.parent.resolve()
    assert (ended.stderr, ended.stdout) == ("", f"{environment.venv} {home} ['--help']\n")
    assert npu_assay("env", "exec", "--device", "emulated", "--", "sh", "-c", "exit 7").returncode == 7
    missing = npu_assay("env", "exec", "--device", "emulated", "nonesuch")
    assert missing.returncode == 2
    assert missing.stderr == "npu-assay: nonesuch: can't be run (No such file or directory)\n"


_MARKER = """\
--- /dev/null
+++ b/vllm_ascend/marker_of_a_test.py
@@ -0,0 +1 @@
+HERE = True
"""


@pytest.mark.environment
def test_env_exec_imports_a_vllm_ascend_of_ones_own(environment: Environment, tmp_path: Path) -> None:
    patch = tmp_path / "marker.patch"
    patch.write_text(_MARKER)
    ask = "from importlib.util import find_spec; print(find_spec('vllm_ascend.marker_of_a_test'))"
    python = ["python", "-c", ask]
    own = npu_assay("env", "exec", "--device", "emulated", "--patch", str(patch), *python)
    assert "site/vllm_ascend/marker_of_a_test.py" in own.stdout
    assert npu_assay("env", "exec", "--device", "emulated", *python).stdout == "None\n"
    patch.write_text(_MARKER.replace("/dev/null", "a/vllm_ascend/marker_of_a_test.py").replace("-0,0", "-1"))
    bad = npu_assay("env", "exec", "--device", "emulated", "--patch", str(patch), *python)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "marker.patch" in bad.stderr.splitlines()[-1]
