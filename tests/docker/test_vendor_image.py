"""Images that start from the vendor's: the whole target, its vllm-ascend compiled, pulled by digest."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine import NAME, Build, Engine
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
from planted_ascend import B243, B250
from registry import Registry, serving
from stand_in_checkout import ARCH, OTHER_ARCH, Checkout
from vendor_image import make_vendor_image, plant_vendor_tree

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]

TARGET = f"compiled-image-{ARCH}"


@pytest.fixture(scope="module")
def registry(engine: Engine, machine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """It has the vendor's image, which the engine has pulled: BuildKit asks registries by TLS alone."""
    folder = tmp_path_factory.mktemp("vendor")
    plant_vendor_tree(folder)
    image = make_vendor_image(engine, machine, folder, f"{NAME}:vendor")
    with serving(engine, image, folder / "registry") as registry:
        pulled = f"{registry.address}/ascend/cann@{registry.digest}"
        engine.docker("pull", "--quiet", pulled)
        yield registry
        engine.docker("rmi", pulled)


def bake(
    engine: Engine, checkout: Checkout, registry: Registry, *sets: str, digest: str | None = None
) -> Build:
    """Build the image without any network but the registry."""
    given = {
        "FETCHED": str(checkout.fetched),
        "CANN_REPOSITORY": f"{registry.address}/ascend/cann",
        "CANN_DIGEST": registry.digest if digest is None else digest,
    }
    return engine.bake(TARGET, given, sets, checkout=checkout.root, network="none")


@pytest.fixture(scope="module")
def image(engine: Engine, stand_ins: Checkout, registry: Registry) -> str:
    """The whole image."""
    build = bake(engine, stand_ins, registry)
    assert build.returncode == 0, build.log
    return build.image


def test_cann_is_judged_before_all_else_and_vllm_ascend_is_compiled_last(engine: Engine, image: str) -> None:
    commands = [command for command, _ in layers(engine, image)]
    assert steps_of(commands) == STEPS
    assert not any(" cann install " in command for command in commands)
    look = ("--entrypoint", "/bin/sh")
    compiled = (
        "ls /opt/npu-assay/cache/builds/*/site/vllm_ascend/*.so; cat /usr/local/Ascend/cann/bin/calls.jsonl"
    )
    said = engine.run(image, "-c", compiled, options=look).stdout
    assert "libvllm_ascend_kernels.so" in said
    assert '"SOC_VERSION": "ascend910b1"' in said


def test_without_an_npu_every_option_that_is_missing_is_named(
    engine: Engine, image: str, tmp_path: Path
) -> None:
    given = engine.run(image, *IMPORTS, options=["--network", "none", *plant_driver(tmp_path)])
    assert (given.stdout, said_missing(given.stderr)) == ("/usr/local/Ascend/cann-9.0.0\n", [])
    without = engine.run(image, *IMPORTS, options=["--network", "none"], check=False)
    assert (without.returncode, without.stdout) == (4, "")
    assert said_missing(without.stderr) == all_missing()


def test_show_and_doctor_speak_of_the_npus_environment(engine: Engine, image: str) -> None:
    check_speaks_of_the_npu(engine, image, "compiled")


@pytest.mark.parametrize("digest", ["", "sha256:abc", "9.0.0-910b-ubuntu22.04-py3.11"])
def test_a_digest_that_is_none_is_one_line(
    digest: str, engine: Engine, image: str, stand_ins: Checkout, registry: Registry
) -> None:
    build = bake(engine, stand_ins, registry, digest=digest)
    assert (build.returncode, build.image) == (1, "")
    assert f" CANN_DIGEST is '{digest}', expected sha256: and 64 hexadecimal digits" in build.log
    assert "invalid reference format" not in build.log


def test_another_digest_is_asked_for_and_never_the_tag(
    engine: Engine, image: str, stand_ins: Checkout, registry: Registry
) -> None:
    digest = f"sha256:{'0' * 64}"
    build = bake(engine, stand_ins, registry, digest=digest)
    assert (build.returncode, build.image) == (1, "")
    (said,) = (line for line in build.log.splitlines() if line.startswith("ERROR: "))
    assert f"{registry.address}/ascend/cann:9.0.0-910b-ubuntu22.04-py3.11@{digest}: " in said


@pytest.fixture(scope="module")
def launcher(engine: Engine, stand_ins: Checkout, registry: Registry, image: str) -> str:
    """The image's stage before CANN is judged; its tag."""
    build = bake(engine, stand_ins, registry, "*.target=launcher")
    assert build.returncode == 0, build.log
    engine.docker("tag", build.image, f"{NAME}:vendor-launcher")
    return f"{NAME}:vendor-launcher"


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"build": B243}, f"toolkit: innerversion is {B243}, expected {B250} "),
        ({"arch": OTHER_ARCH}, f"is for {OTHER_ARCH}, this machine is {ARCH}"),
        ({"nnal": False}, "ATB_HOME_PATH is /usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_1: no folder"),
    ],
    ids=["another build", "another architecture", "no NNAL"],
)
def test_a_vendors_image_that_is_not_the_locks_stops_at_step_cann(
    other: dict[str, object],
    says: str,
    engine: Engine,
    launcher: str,
    stand_ins: Checkout,
    registry: Registry,
    tmp_path: Path,
) -> None:
    plant_vendor_tree(tmp_path, **other)
    lines = (f"FROM {launcher}", "RUN rm -r /usr/local/Ascend", "COPY Ascend /usr/local/Ascend")
    (tmp_path / "Dockerfile").write_text("\n".join(lines))
    engine.docker("build", "--quiet", "--network=none", "--tag", f"{NAME}:vendor-other", tmp_path)
    build = bake(engine, stand_ins, registry, f"*.contexts.launcher=docker-image://{NAME}:vendor-other")
    assert (build.returncode, build.image) == (1, "")
    said = {line.partition("npu-assay: ")[2] for line in build.log.splitlines() if " npu-assay: " in line}
    assert any(says in line for line in said)
    ran = [line.split()[1].lstrip("[") for line in build.log.splitlines() if " RUN " in line and "[" in line]
    assert "judged-npu" in ran
    assert "python" not in ran
