"""Images with the vendor's run packages: the whole target, of packages and wheels that the tests made."""

import tempfile
from pathlib import Path

import pytest
from engine import Build, Engine
from npu_image import (
    IMPORTS,
    STEPS,
    all_missing,
    check_speaks_of_the_npu,
    layers,
    plant_driver,
    said_missing,
    steps_of,
)
from planted_ascend import B243
from stand_in_checkout import (
    ARCH,
    CALLS,
    OTHER_ARCH,
    PACKAGES,
    PAYLOAD,
    Checkout,
    StandIn,
    other_architecture,
    write_packages,
)

from npu_assay.cann.agreement import Part

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]

TOOLKIT, OPS, NNAL = (package.file for package in PACKAGES)
#: Of a layer with no more than what is installed: scripts, and empty folders.
SMALL = PAYLOAD // 4


def bake(
    engine: Engine,
    machine: str,
    checkout: Checkout,
    packages: Path,
    lock: str = "wheels",
    licence: str = "yes",
) -> Build:
    """Build that lock's image without any network."""
    given = {
        "BASE": machine,
        "FETCHED": str(checkout.fetched),
        "RUN_PACKAGES": str(packages),
        "ACCEPT_LICENCE": licence,
    }
    return engine.bake(f"{lock}-run-packages-{ARCH}", given, checkout=checkout.root, network="none")


@pytest.fixture(scope="module")
def image(engine: Engine, machine: str, stand_ins: Checkout) -> str:
    """The whole image."""
    build = bake(engine, machine, stand_ins, stand_ins.packages)
    assert build.returncode == 0, build.log
    return build.image


def test_packages_are_installed_in_their_order_before_all_steps_and_are_in_no_layer(
    engine: Engine, image: str
) -> None:
    made = layers(engine, image)
    commands = [command for command, _ in made]
    (installing,) = (number for number, command in enumerate(commands) if " cann install " in command)
    assert steps_of(commands[installing:]) == STEPS
    assert steps_of(commands[:installing]) == []
    calls = engine.run(image, "sh", "-c", f"cat {CALLS}", options=["--entrypoint", "/usr/bin/env"]).stdout
    assert [line.split()[0] for line in calls.splitlines()] == [TOOLKIT, OPS, NNAL]
    assert 0 < made[installing][1] < SMALL


def test_without_an_npu_every_option_that_is_missing_is_named(
    engine: Engine, image: str, tmp_path: Path
) -> None:
    given = engine.run(image, *IMPORTS, options=["--network", "none", *plant_driver(tmp_path)])
    assert (given.stdout, said_missing(given.stderr)) == ("/usr/local/Ascend/cann-9.0.0\n", [])
    without = engine.run(image, *IMPORTS, options=["--network", "none"], check=False)
    assert (without.returncode, without.stdout) == (4, "")
    assert said_missing(without.stderr) == all_missing()


def test_a_driver_elsewhere_is_found_by_the_hosts_own_file(
    engine: Engine, image: str, tmp_path: Path
) -> None:
    options = ["--network", "none", *plant_driver(tmp_path, "/opt/vendor")]
    given = engine.run(image, *IMPORTS, options=options)
    assert (given.stdout, said_missing(given.stderr)) == ("/usr/local/Ascend/cann-9.0.0\n", [])
    version = options.index(f"{tmp_path}/opt/vendor/driver/version.info:/opt/vendor/driver/version.info:ro")
    without = engine.run(
        image, *IMPORTS, options=options[: version - 1] + options[version + 1 :], check=False
    )
    path = "/opt/vendor/driver/version.info"
    assert (without.returncode, said_missing(without.stderr)) == (4, [f"-v {path}:{path}:ro"])


def test_show_and_doctor_speak_of_the_npus_environment(engine: Engine, image: str) -> None:
    check_speaks_of_the_npu(engine, image, "wheels")


def bytes_of(package: StandIn) -> bytes:
    """Of the package's file."""
    with tempfile.TemporaryDirectory() as folder:
        return package.write(Path(folder), calls=CALLS).read_bytes()


def why(build: Build) -> str:
    """What npu-assay said; a build that failed leaves no image."""
    assert (build.returncode, build.image) == (1, "")
    (line,) = {line.partition("npu-assay: ")[2] for line in build.log.splitlines() if " npu-assay: " in line}
    return line


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, f"{NNAL} is not in /run-packages; there is {OPS}, {TOOLKIT}"),
        (b"another", f"{NNAL}: no run package: it begins with 'another', not with #!; sha256 "),
        (
            other_architecture(PACKAGES[2]),
            f"{NNAL}: it is the package for {OTHER_ARCH}, this machine is {ARCH}",
        ),
        (bytes_of(StandIn(Part.NNAL, build="B161", arch=ARCH)), f"{NNAL}: sha256 "),
    ],
    ids=["missing", "no installer", "another architecture", "another installer"],
)
def test_no_package_runs_before_all_are_known(
    data: bytes | None,
    says: str,
    engine: Engine,
    machine: str,
    image: str,
    stand_ins: Checkout,
    tmp_path: Path,
) -> None:
    packages = tmp_path / "packages"
    write_packages(packages)
    (packages / NNAL).unlink()
    if data is not None:
        (packages / NNAL).write_bytes(data)
    build = bake(engine, machine, stand_ins, packages)
    assert says in why(build)
    assert " installing " not in build.log


@pytest.mark.parametrize("licence", ["", "no"])
def test_a_licence_that_nobody_has_accepted_stops_the_build(
    engine: Engine, machine: str, image: str, stand_ins: Checkout, licence: str
) -> None:
    build = bake(engine, machine, stand_ins, stand_ins.packages, licence=licence)
    assert "accepts the vendor's licence (EULA)" in why(build)
    assert " --accept-licence is ACCEPT_LICENCE=yes in a build of an image\n" in build.log
    assert " installing " not in build.log


@pytest.mark.parametrize(
    ("lock", "package", "says", "ran"),
    [
        (
            "half-way",
            StandIn(Part.OPS, arch=ARCH, middle='error "no kernels for this"'),
            f"{OPS} failed (3): no kernels for this; ",
            [TOOLKIT, OPS],
        ),
        ("another-build", StandIn(Part.TOOLKIT, arch=ARCH, build=B243), B243, [TOOLKIT]),
    ],
)
def test_an_installer_that_fails_stops_the_build(
    lock: str,
    package: StandIn,
    says: str,
    ran: list[str],
    engine: Engine,
    machine: str,
    image: str,
    stand_ins: Checkout,
    tmp_path: Path,
) -> None:
    packages = tmp_path / "packages"
    write_packages(packages, package)
    stand_ins.write_lock(lock, packages)
    stand_ins.write_bake_file()
    build = bake(engine, machine, stand_ins, packages, lock)
    assert says in why(build)
    installing = [
        line.split(" installing ")[1].split()[0] for line in build.log.splitlines() if " installing " in line
    ]
    assert list(dict.fromkeys(installing)) == ran
    assert "[ERROR] no kernels for this\n" in build.log or lock != "half-way", "all that it has said"
