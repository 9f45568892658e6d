"""Stored output of a host, and a live npu-smi played by a shell script on PATH."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from npu_smi_texts import HEALTH, LISTING, MAPPING, card, idle, info
from planted_npu_smi import plant_npu_smi

from npu_assay.device.host import Host, join
from npu_assay.device.stored import read_answers

VARIABLES = (
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_VISIBLE_DEVICES",
    "NPU_INDEX",
    "NPU_CHIP_INDEX",
    "SKIP_NPU_HEALTH_CHECK",
)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    """What the shell that runs the tests has set is about its own devices."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def host(tmp_path):
    """A folder with the stored output of a healthy host of two cards."""
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "a.txt").write_text(info(card(0), card(3)))
    (folder / "b.txt").write_text(MAPPING)
    (folder / "c.txt").write_text(LISTING)
    (folder / "d.txt").write_text(HEALTH)
    return folder


@pytest.fixture
def host_of(tmp_path) -> Callable[..., Host]:
    """Makes a host of stored texts."""

    def read(*texts: str) -> Host:
        folder = tmp_path / "stored"
        folder.mkdir(exist_ok=True)
        for number, text in enumerate(texts):
            (folder / f"{number}.txt").write_text(text)
        return join(read_answers([folder]))

    return read


@pytest.fixture
def smi(tmp_path, monkeypatch) -> Path:
    """The folder with the script and its answers, files named by its arguments; it is on PATH."""
    answers = {
        "info": info(card(0), card(3), processes=idle(0) + idle(3)),
        "info_-m": MAPPING,
        "info_-l": LISTING,
    }
    answers |= {f"info_-t_health_-i_{npu}_-c_0": HEALTH for npu in (0, 3)}
    folder = plant_npu_smi(tmp_path / "tools", answers)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


@pytest.fixture
def make_dev(tmp_path) -> Callable[..., Path]:
    """Makes a dev folder with these davinci nodes; by default with all managers."""

    def make(*numbers: int, managers: tuple[str, ...] = ("davinci_manager", "devmm_svm", "hisi_hdc")) -> Path:
        folder = tmp_path / "dev"
        folder.mkdir(exist_ok=True)
        for name in (*(f"davinci{number}" for number in numbers), *managers):
            (folder / name).touch()
        return folder

    return make
