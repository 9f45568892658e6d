"""Run packages: checked all before the first runs, in order, once; what fails half-way is never installed."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from planted_ascend import ARCH, B243, B250, PlantedAscend, plant_cann9
from stand_in_packages import ALL, StandIn, Vendor, snapshot

from npu_assay.cann.agreement import Part
from npu_assay.cann.diagnose import diagnose
from npu_assay.cann.host import HostProvider
from npu_assay.cann.provider import Target
from npu_assay.cann.run_packages.installation import Installation
from npu_assay.cann.run_packages.makeself import MakeselfHeader
from npu_assay.cann.run_packages.package import Wanted
from npu_assay.cann.run_packages.room import needed_mib
from npu_assay.cann.run_packages.sources import Checked
from npu_assay.disk import require_free
from npu_assay.errors import AssayError, UnusableError, UsageError

FLAGS = "--quiet --install --install-for-all --install-path="


@pytest.fixture
def vendor(tmp_path: Path) -> Vendor:
    vendor = Vendor(tmp_path / "packages", tmp_path / "Ascend")
    vendor.write()
    return vendor


def installation(vendor: Vendor, wanted: Wanted | None = None, **changes: Any) -> Installation:
    """Of all three, by root; the caller's shell has sourced another CANN."""
    shell = {
        "PATH": os.environ["PATH"],
        "ASCEND_HOME_PATH": "/other/cann",
        "ASCEND_OPP_PATH": "/other/cann/opp",
        "LD_LIBRARY_PATH": "/other/cann/lib64",
    }
    given: dict[str, Any] = {
        "wanted": wanted or vendor.wanted(),
        "places": vendor.places,
        "sources": vendor.sources,
        "log": vendor.folder / "install.log",
        "licence_accepted": True,
        "for_all": True,
        "variables": shell,
    }
    return Installation(**given | changes)


def run(vendor: Vendor, **changes: Any) -> list[str]:
    """Install, and what was told."""
    told: list[str] = []
    installation(vendor, **changes).run(told.append)
    return told


def test_toolkit_ops_and_nnal_are_installed_in_this_order_and_once(vendor: Vendor) -> None:
    assert installation(vendor).run(lambda line: None)
    assert vendor.calls == [f"{package.file} {FLAGS}{vendor.root}" for package in ALL]
    toolkit = vendor.root / "cann-9.0.0"
    scratch = f"TMPDIR={vendor.root}/.npu-assay.tmp"
    none = f"ASCEND_HOME_PATH= ASCEND_OPP_PATH= LD_LIBRARY_PATH= {scratch}"
    its = f"ASCEND_HOME_PATH={toolkit} ASCEND_OPP_PATH= LD_LIBRARY_PATH= {scratch}"
    assert vendor.variables == [none, none, its]
    assert {path.name for path in vendor.root.iterdir()} == {
        *("cann-9.0.0", "cann", "ascend-toolkit", "nnal", ".npu-assay.lock")
    }

    before = snapshot(vendor.root)
    assert not installation(vendor, licence_accepted=False).run(lambda line: None)
    assert len(vendor.calls) == 3
    assert snapshot(vendor.root) == before


def test_what_was_installed_is_the_host_s(vendor: Vendor) -> None:
    run(vendor)
    target = Target(Path("python"), vendor.folder / "site", {}, vendor.wanted().expected)
    found = HostProvider(variables={}, places=(vendor.places,)).locate(target)
    assert found.innerversion() == B250
    assert found.cann_script == vendor.root / "cann-9.0.0/set_env.sh"
    assert found.atb_script == vendor.root / "nnal/atb/9.0.0/atb/set_env.sh"


def test_a_user_installs_for_himself(vendor: Vendor) -> None:
    run(vendor, for_all=False)
    assert vendor.calls[0].endswith(f"--quiet --install --install-path={vendor.root}")


def test_only_what_is_missing_is_installed(vendor: Vendor) -> None:
    run(vendor)
    (vendor.root / f"cann-9.0.0/{ARCH}-linux/ascend_ops_install.info").unlink()
    run(vendor)
    assert vendor.calls[3:] == [f"{ALL[1].file} {FLAGS}{vendor.root}"]


# --- what is refused before anything runs ------------------------------------------------------------------

TOOLKIT = ALL[0].file
OTHER = TOOLKIT.replace(ARCH, "x86_64")


def cut(path: Path, at: int) -> None:
    path.write_bytes(path.read_bytes()[:at])


def renamed(path: Path, name: str) -> None:
    path.rename(path.with_name(name))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda p: p.write_bytes(p.read_bytes() + b"\n"), "sha256 [0-9a-f]{64}, the lock says [0-9a-f]{64}"),
        (lambda p: cut(p, 900), r"cut short: 900 of \d+ bytes; sha256"),
        (lambda p: cut(p, 60), "no filesizes.*; sha256"),
        (
            lambda p: p.write_text("<html>403</html>"),
            "no run package: it begins with '<html>403</html>'.*sha",
        ),
        (lambda p: p.write_text(""), "no run package: it begins with nothing.*sha256"),
        (lambda p: p.unlink(), f"toolkit: {TOOLKIT} is not in .*; there is {ALL[1].file}, {ALL[2].file}$"),
        (
            lambda p: renamed(p, OTHER),
            f"toolkit: {TOOLKIT} is not there; {OTHER} is not for this machine, which is {ARCH}",
        ),
    ],
)
def test_a_package_that_is_not_the_lock_s_is_not_run_nor_any_other(
    vendor: Vendor, tmp_path: Path, fault: Callable[[Path], None], says: str
) -> None:
    wanted = vendor.wanted()
    run(replace(vendor, root=tmp_path / "good"), wanted=wanted)
    assert len(vendor.calls) == 3
    fault(vendor.folder / TOOLKIT)
    with pytest.raises(UsageError, match=says):
        run(vendor, wanted=wanted)
    assert len(vendor.calls) == 3
    assert not (vendor.root / "cann-9.0.0").exists()


def test_even_the_last_one_is_checked_before_the_first_runs(vendor: Vendor) -> None:
    with pytest.raises(UsageError, match=f"{ALL[2].file}: sha256"):
        run(vendor, wanted=vendor.wanted(nnal="0" * 64))
    assert vendor.calls == []
    run(vendor)
    assert len(vendor.calls) == 3


def test_one_for_another_architecture_is_known_by_its_hash_whatever_its_name(vendor: Vendor) -> None:
    wanted = vendor.wanted()
    run(replace(vendor, root=vendor.folder / "good"), wanted=wanted)
    StandIn(Part.TOOLKIT, arch="x86_64").write(vendor.folder).replace(vendor.folder / TOOLKIT)
    found = hashlib.sha256((vendor.folder / TOOLKIT).read_bytes()).hexdigest()
    toolkit = replace(wanted.packages[0], elsewhere={"x86_64": found})
    with pytest.raises(UsageError, match=f"it is the package for x86_64, this machine is {ARCH}"):
        run(vendor, wanted=replace(wanted, packages=(toolkit, *wanted.packages[1:])))
    assert len(vendor.calls) == 3


def test_a_package_that_nobody_has_recorded_is_not_run(vendor: Vendor) -> None:
    with pytest.raises(UsageError) as raised:
        run(vendor, wanted=vendor.wanted(ops=None))
    path = vendor.folder / ALL[1].file
    assert str(raised.value) == (
        f"{path}: nobody has recorded its sha256, so it is not run; if you trust it, type:"
        f" npu-assay env lock it --record {path}"
    )
    assert vendor.calls == []


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"licence_accepted": False}, UsageError, "accepts the vendor's licence .* say --accept-licence"),
        ({"chip": "A3"}, UnusableError, "this host's NPUs want Ascend-cann-A3-ops, and the lock has"),
    ],
)
def test_what_else_is_asked_before_anything_runs(
    vendor: Vendor, changes: dict[str, Any], error: type[AssayError], says: str
) -> None:
    with pytest.raises(error, match=says):
        run(vendor, **changes)
    assert vendor.calls == []
    run(vendor, chip="910b")
    assert len(vendor.calls) == 3


def test_without_a_source_and_without_a_licence_nothing_is_written(vendor: Vendor) -> None:
    nothing = replace(vendor.sources, paths=())
    for changes in ({"sources": nothing}, {"licence_accepted": False}):
        with pytest.raises(UsageError):
            run(vendor, **changes)
        assert not vendor.root.exists()


@dataclass(frozen=True)
class Usage:
    """What shutil.disk_usage says."""

    free: int


def test_a_disk_that_is_too_full_is_told_before_anything_runs(vendor: Vendor) -> None:
    """The stand-ins take less than a MiB, so that is what is asked for."""

    def having(free: int) -> Callable[..., None]:
        return partial(require_free, usage=lambda path: Usage(free))

    with pytest.raises(UnusableError) as raised:
        run(vendor, require_room=having((1 << 20) - 1))
    assert str(raised.value) == (
        f"{vendor.root}: 0 MiB free, installing CANN, as is reckoned, needs 1 MiB; make room, or name another"
        " folder with --install-path"
    )
    assert vendor.calls == []
    run(vendor, require_room=having(1 << 20))
    assert len(vendor.calls) == 3


def test_room_is_reckoned_from_the_sizes_of_the_packages(tmp_path: Path) -> None:
    """Four times what is installed, and the largest of what is unpacked meanwhile."""
    package, mib = Vendor(tmp_path, tmp_path).wanted().packages[0], 1 << 20

    def checked(size: int, unpacked: int | None) -> Checked:
        path = tmp_path / f"{size}-{unpacked}"
        with path.open("wb") as file:
            file.truncate(size)
        return Checked(package, path, MakeselfHeader("", size, unpacked) if unpacked else None)

    assert needed_mib([checked(mib, 3 * mib)]) == 7
    assert needed_mib([checked(mib, None)]) == 6
    assert needed_mib([checked(mib, 3 * mib), checked(2 * mib, mib), checked(1, None)]) == 4 * 3 + 1 + 3


# --- what fails half-way -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "says", "ran"),
    [
        (StandIn(Part.TOOLKIT, first="error no python3.9"), "failed [(]3[)]: no python3.9; the full log", 1),
        (
            StandIn(Part.TOOLKIT, middle="error disk full"),
            "failed [(]3[)]: disk full; .*cann-9.0.0 is there",
            1,
        ),
        (StandIn(Part.TOOLKIT, middle="echo Killed; exit 137"), "failed [(]137[)]: Killed", 1),
        (StandIn(Part.OPS, middle="error no kernels"), "no kernels; .*cann-9.0.0 is there now, half", 2),
        (StandIn(Part.NNAL, build="B160", middle="error no torch"), "no torch; .*nnal/atb/9.0.0 is there", 3),
        (StandIn(Part.TOOLKIT, middle="exit 0"), "ended well, but there is no whole toolkit in", 1),
        (StandIn(Part.OPS, middle="exit 0"), "ended well, but there is no whole ops in", 2),
        (
            StandIn(Part.TOOLKIT, build=B243),
            f"has installed toolkit 9.0.0 [(]{B243}[)] .*, expected 9.0.0",
            1,
        ),
        (StandIn(Part.NNAL, build="B159"), "has installed nnal 9.0.0 [(]B159[)] in .*expected .*B160", 3),
    ],
)
def test_an_installer_that_fails_half_way_is_told_and_its_rest_is_not_taken_for_installed(
    vendor: Vendor, tmp_path: Path, broken: StandIn, says: str, ran: int
) -> None:
    good = replace(vendor, root=tmp_path / "good")
    run(good)
    broken.write(vendor.folder)
    calls = len(vendor.calls)
    with pytest.raises(UnusableError, match=says) as raised:
        run(vendor)
    assert len(vendor.calls) == calls + ran
    assert not (vendor.root / ".npu-assay.tmp").exists()
    remove = re.findall(r"rm -rf (?:/\S+ ?)+", str(raised.value))[-1]

    StandIn(broken.part, build="B160" if broken.part is Part.NNAL else B250).write(vendor.folder)
    with pytest.raises(UnusableError, match=r"an installation did not end.*goes with: rm -rf"):
        run(vendor)
    assert len(vendor.calls) == calls + ran
    target = Target(Path("python"), vendor.folder / "site", {}, vendor.wanted().expected)
    assert not HostProvider(variables={}, places=(vendor.places,)).ready(target)

    subprocess.run(remove, shell=True, check=True)
    run(vendor)
    assert HostProvider(variables={}, places=(vendor.places,)).ready(target)


def test_the_vendor_s_own_log_is_named(vendor: Vendor) -> None:
    StandIn(Part.TOOLKIT, first="error no").write(vendor.folder)
    with pytest.raises(UnusableError, match=r"install\.log, its own is /var/log/ascend_seclog/ascend_tool"):
        run(vendor)


def test_doctor_sees_an_installation_that_did_not_end(vendor: Vendor) -> None:
    run(vendor)
    says = [d.check for d in diagnose(vendor.places, {})]
    assert "cann-unfinished" not in says
    for mark in ("cann-9.0.0.unfinished", "nnal-atb-9.0.0.unfinished"):
        (vendor.root / mark).touch()
        [found] = [d for d in diagnose(vendor.places, {}) if d.check == "cann-unfinished"]
        assert mark in found.message
        assert found.advice is not None
        assert found.advice.startswith("rm -rf ")
        (vendor.root / mark).unlink()


# --- what is there already ---------------------------------------------------------------------------------


def test_an_older_version_is_left_alone_and_named(vendor: Vendor) -> None:
    older = PlantedAscend(vendor.folder)
    older.root = vendor.root
    older.plant_toolkit("8.5.1", "V100R001C25SPC002B220", "cann-8.5.1")
    older.link("cann", "cann-8.5.1")
    older.link("ascend-toolkit/latest", "../cann")
    older.plant_atb("8.5.1", "B100")
    older.link("nnal/atb/latest", "8.5.1")
    before = [snapshot(vendor.root / name) for name in ("cann-8.5.1", "nnal/atb/8.5.1")]
    told = run(vendor)
    assert [snapshot(vendor.root / name) for name in ("cann-8.5.1", "nnal/atb/8.5.1")] == before
    assert told[3:5] == [
        f"left alone: 8.5.1 (V100R001C25SPC002B220) in {vendor.root}/cann-8.5.1",
        f"left alone: ATB 8.5.1 (B100) in {vendor.root}/nnal/atb/8.5.1",
    ]
    assert told[-2:] == [
        f"{vendor.root}/cann led to cann-8.5.1, now to cann-9.0.0;"
        f" to lead it back: sudo ln -sfn cann-8.5.1 {vendor.root}/cann",
        f"{vendor.root}/nnal/atb/latest led to 8.5.1, now to 9.0.0;"
        f" to lead it back: sudo ln -sfn 8.5.1 {vendor.root}/nnal/atb/latest",
    ]


def test_an_installer_that_touches_another_version_is_told_on(vendor: Vendor) -> None:
    older = PlantedAscend(vendor.folder)
    older.root = vendor.root
    older.plant_toolkit("8.5.1", "V100R001C25SPC002B220", "cann-8.5.1")
    StandIn(Part.TOOLKIT, first='rm -r "$root/cann-8.5.1"').write(vendor.folder)
    told = run(vendor)
    assert told[-1] == (
        f"the installers have changed 8.5.1 (V100R001C25SPC002B220) in {vendor.root}/cann-8.5.1:"
        " now it is gone"
    )


@pytest.mark.parametrize(
    ("part", "file", "old", "new"),
    [
        ("toolkit", f"cann-9.0.0/{ARCH}-linux/ascend_toolkit_install.info", B250, B243),
        ("ops", f"cann-9.0.0/{ARCH}-linux/ascend_ops_install.info", B250, B243),
        ("nnal", "nnal/atb/9.0.0/version.info", "B160", "B159"),
    ],
)
def test_another_build_of_the_same_version_is_not_written_over(
    vendor: Vendor, tmp_path: Path, part: str, file: str, old: str, new: str
) -> None:
    tree = plant_cann9(tmp_path / "planted")
    vendor.root = tree.root
    assert not installation(vendor).run(lambda line: None)
    tree.replace(file, old, new)
    before = snapshot(vendor.root)
    with pytest.raises(UnusableError, match=rf"{part} 9\.0\.0 \({new}\) is there, and .*--install-path"):
        run(vendor)
    (vendor.root / ".npu-assay.lock").unlink()
    assert snapshot(vendor.root) == before
    assert vendor.calls == []


def test_the_rest_of_another_installation_is_not_written_over(vendor: Vendor) -> None:
    (vendor.root / "cann-9.0.0").mkdir(parents=True)
    with pytest.raises(UnusableError, match=r"no whole toolkit, so nothing is installed over it.*rm -rf"):
        run(vendor)
    (vendor.root / "cann-9.0.0").rmdir()
    run(vendor)
    assert len(vendor.calls) == 3


# --- others, and interruptions -----------------------------------------------------------------------------


def test_two_at_once_wait_for_each_other(vendor: Vendor) -> None:
    """The second one has nothing left to do."""
    go = vendor.folder / "go"
    StandIn(Part.TOOLKIT, middle=f'until [ -e "{go}" ]; do sleep 0.05; done').write(vendor.folder)
    did, waiting = [], threading.Event()

    def told(line: str) -> None:
        if line.startswith("waiting for another npu-assay that installs into"):
            waiting.set()

    def work() -> None:
        did.append(installation(vendor).run(told))

    first, second = threading.Thread(target=work), threading.Thread(target=work)
    first.start()
    while not vendor.calls:
        time.sleep(0.05)
    second.start()
    assert waiting.wait(60)
    go.touch()
    for thread in (first, second):
        thread.join(60)
    assert sorted(did) == [False, True]
    assert len(vendor.calls) == 3


MAIN = """\
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from stand_in_packages import Vendor
from test_run_packages import installation
from npu_assay.pipeline.interruption import stopping
with stopping():
    installation(Vendor(Path({folder!r}), Path({root!r}))).run(print)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_installer_and_leaves_the_mark(vendor: Vendor, number: int) -> None:
    StandIn(Part.TOOLKIT, middle='sleep 1000 & echo $! >>"$root/pid"; wait').write(vendor.folder)
    script = MAIN.format(here=str(Path(__file__).parent), folder=str(vendor.folder), root=str(vendor.root))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as ours:
        pid = vendor.root / "pid"
        while not (pid.exists() and pid.read_text().strip()):
            assert ours.poll() is None
            time.sleep(0.05)
        ours.send_signal(number)
        assert ours.wait(60) != 0
    sleeper = int(pid.read_text())
    assert ends(sleeper)
    assert not (vendor.root / ".npu-assay.tmp").exists()
    StandIn(Part.TOOLKIT).write(vendor.folder)
    with pytest.raises(UnusableError, match="an installation did not end"):
        run(vendor)  # the lock is free, or this would wait


def ends(pid: int) -> bool:
    """Whether it is gone, or about to be reaped: the kernel ends a killed process in its own time."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False
