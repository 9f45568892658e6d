"""vllm-ascend 0.18.0 on torch 2.10: the wheel's module loses references there, the one that is made here
does not."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from suite_run import SUITES, stage_variables

from npu_assay.environment.environment import Environment

pytestmark = [pytest.mark.environment, pytest.mark.xdist_group("torch210")]

#: Prints the reference counts of what swap_blocks is given, before and after 200 calls.
COUNT = """
import sys, torch, vllm_ascend.vllm_ascend_C
tensors = torch.ones(2, 8, device="npu"), torch.zeros(2, 8).pin_memory(), torch.tensor([[0, 1]])
counts = lambda: [sys.getrefcount(tensor) for tensor in tensors]
before = counts()
for _ in range(200):
    torch.ops._C_ascend.swap_blocks(*tensors)
print([after - once for once, after in zip(before, counts())])
"""


def site_with_the_wheels_module(environment: Environment, folder: Path, *, note: bool) -> dict[str, str]:
    """The environment's variables, with its vllm_ascend in front but for the module: the wheel's."""
    site, (info,) = environment.site_packages, environment.site_packages.glob("vllm_ascend-*.dist-info")
    (folder / "vllm_ascend").mkdir(parents=True)
    for entry in (site / "vllm_ascend").iterdir():
        (folder / "vllm_ascend" / entry.name).symlink_to(entry)
    (kept,) = (environment.root / "replaced").iterdir()
    (folder / "vllm_ascend" / kept.name).unlink()
    shutil.copy(kept, folder / "vllm_ascend")
    shutil.copytree(info, folder / info.name)
    if not note:
        (folder / info.name / "npu-assay-rebuilt.json").unlink()
    variables = environment.variables()
    stubs = make_stubs(kept, variables["LD_LIBRARY_PATH"], folder / "stubs")
    return variables | {
        "PYTHONPATH": os.pathsep.join([str(folder), variables["PYTHONPATH"]]),
        "LD_LIBRARY_PATH": os.pathsep.join([variables["LD_LIBRARY_PATH"], str(stubs)]),
    }


def make_stubs(library: Path, search_path: str, folder: Path) -> Path:
    """Libraries of CANN that this one needs and the emulator lacks, as the installed module does not."""
    folder.mkdir()
    undefined = [line.split()[-1] for line in binutils("nm", "-D", "--undefined-only", library)]
    (folder / "stubs.c").write_text(
        "".join(f"void {name}(void) {{}}\n" for name in undefined if "2fe" in name)
    )
    needed = re.findall(r"NEEDED.*\[(.+)\]", "\n".join(binutils("readelf", "-d", library)))
    folders = [Path(folder) for folder in search_path.split(os.pathsep)]
    of_cann = ("libregister.so", "libplatform.so", "libascendalog.so", "libruntime.so", "libprofapi.so")
    missing = [
        name for name in needed if name in of_cann and not any((there / name).exists() for there in folders)
    ]
    assert missing, "expected the wheel's module to want more of CANN than the one that is installed"
    for name in missing:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / name, folder / "stubs.c"], check=True)
    return folder


def binutils(*command: str | Path) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def references_lost(environment: Environment, variables: Mapping[str, str], *, tries: int = 1) -> list[int]:
    """Of 200 calls. A module that corrupts counts breaks outright now and then (one time of ten or so)."""
    for _ in range(tries):
        ended = subprocess.run(
            [environment.python, "-c", COUNT], env=variables, capture_output=True, text=True, check=False
        )
        if ended.returncode == 0:
            break
    assert ended.returncode == 0, ended.stderr
    lost: list[int] = json.loads(ended.stdout.splitlines()[-1])
    return lost


def versions_stage(
    environment: Environment, variables: Mapping[str, str], archive: Path
) -> subprocess.CompletedProcess[str]:
    archive.mkdir()
    command = [environment.python, SUITES / "versions_and_paths.py"]
    variables = {**variables, **stage_variables(archive)}
    return subprocess.run(command, env=variables, cwd=archive, capture_output=True, text=True, timeout=300)


def test_no_reference_is_lost(torch210: Environment, tmp_path: Path) -> None:
    assert references_lost(torch210, torch210.variables()) == [0, 0, 0]
    planted = site_with_the_wheels_module(torch210, tmp_path / "site", note=False)
    assert references_lost(torch210, planted, tries=5) == [200, 200, 200]


def test_the_versions_stage_names_what_was_replaced_and_refuses_the_wheels_module(
    torch210: Environment, tmp_path: Path
) -> None:
    good = versions_stage(torch210, torch210.variables(), tmp_path / "good")
    assert good.returncode == 0, good.stderr
    replaced = json.loads((tmp_path / "good" / "environment.json").read_text())["vllm_ascend_binding"]
    assert replaced["replaces"]["library"].startswith("vllm_ascend/vllm_ascend_C.")
    assert f"replaces the wheel's {replaced['replaces']['wheel_sha256']}" in good.stdout
    assert f"lmcache {torch210.variant.versions['lmcache']} " in good.stdout

    other = site_with_the_wheels_module(torch210, tmp_path / "other", note=True)
    bad = versions_stage(torch210, other, tmp_path / "other-archive")
    assert bad.returncode == 1
    assert f"sha256 {replaced['replaces']['wheel_sha256']}, expected {replaced['sha256']}" in bad.stderr

    unnoted = site_with_the_wheels_module(torch210, tmp_path / "unnoted", note=False)
    bad = versions_stage(torch210, unnoted, tmp_path / "unnoted-archive")
    assert bad.returncode == 1
    assert re.search("corrupts reference counts|breaks in a call of swap_blocks", bad.stderr), bad.stderr
    assert "it was compiled for another torch" in bad.stderr
    assert not (tmp_path / "unnoted-archive" / "environment.json").exists()
