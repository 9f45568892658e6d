"""The engine of these tests, and the images that more than one of them uses.

NPU_ASSAY_TEST_DOCKER_HOST=unix://... uses a daemon that runs already.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import own_daemon
import pytest
from committed import copy_committed
from debian_base import make_base
from engine import NAME, Build, Engine, find_client, machine_variables, missing, refuse
from layers import SECRET
from stand_in_checkout import Checkout, make_checkout

from npu_assay.cache import cache_root
from npu_assay.environment.fetched import LAUNCHER


@pytest.fixture(scope="session")
def installed() -> None:
    """An engine that can be started."""
    if reason := missing():
        refuse(reason)


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A daemon of the tests' own, whose images and build cache the next run finds again."""
    config = tmp_path_factory.mktemp("docker-config")
    client = find_client(config) or "docker"
    if host := os.environ.get("NPU_ASSAY_TEST_DOCKER_HOST"):
        yield Engine(host, client, config)
        return
    request.getfixturevalue("installed")
    with own_daemon.running(cache_root() / "tests-docker") as host:
        engine = Engine(host, client, config)
        # What a run that was killed has left, and images of last week that no name leads to.
        engine.docker("container", "prune", "--force")
        engine.docker("image", "prune", "--force", "--filter", "until=168h")
        yield engine


@pytest.fixture(scope="session")
def base(engine: Engine) -> str:
    """What the emulated images are made from; its name."""
    return make_base(engine)


@pytest.fixture(scope="session")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The build's secrets, as variables of the bake file: both have a line that no layer may have."""
    folder = tmp_path_factory.mktemp("secrets")
    files = {"PIP_CONF": folder / "pip.conf"}
    files["PIP_CONF"].write_text(f"# {SECRET}\n[global]\n")
    if certificates := machine_variables().get("CA_CERTIFICATES"):
        files["CA_CERTIFICATES"] = folder / "certificates.pem"
        files["CA_CERTIFICATES"].write_text(f"# {SECRET}\n{Path(certificates).read_text()}")
    return {name: str(path) for name, path in files.items()}


@pytest.fixture(scope="session")
def machine(engine: Engine, base: str, secrets: dict[str, str]) -> str:
    """The base with Debian's packages, which need a network: what offline builds start from; its name."""
    build = engine.bake("machine-x86_64", {**secrets, "BASE": base})
    assert build.returncode == 0, build.log
    return f"{NAME}:machine-x86_64"


@pytest.fixture(scope="session")
def offline(machine: str, fetched: Path, secrets: dict[str, str]) -> dict[str, str]:
    """Variables of the bake file for an image of the default lock that needs no network."""
    return {**secrets, "BASE": machine, "FETCHED": str(fetched)}


@pytest.fixture(scope="session")
def bake_offline(engine: Engine, offline: dict[str, str]) -> Callable[..., Build]:
    """Engine.bake of an image of the default lock, without any network, from what was fetched before."""

    def bake(target: str, variables: Mapping[str, str] = {}, **more: Any) -> Build:
        return engine.bake(target, {**offline, **variables}, network="none", **more)

    return bake


@pytest.fixture(scope="session")
def emulated_build(bake_offline: Callable[..., Build]) -> Build:
    """The default target, built without network: so every cold run of the tests proves that it can be."""
    build = bake_offline("cann900-vllm018-emulated-x86_64")
    assert build.returncode == 0, "\n".join(build.log.splitlines()[-60:])
    return build


@pytest.fixture(scope="session")
def emulated_image(emulated_build: Build) -> str:
    """The id of the default target's image."""
    return emulated_build.image


@pytest.fixture(scope="session")
def stand_ins(fetched: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy of what images are built from, with locks of stand-ins."""
    return make_checkout(tmp_path_factory.mktemp("stand-ins"), fetched / LAUNCHER)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is or would be committed, to change."""
    folder = tmp_path_factory.mktemp("checkout")
    copy_committed(folder)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder to mount at /npu-assay/runs, of a user who is not root."""
    folder = tmp_path / "runs"
    folder.mkdir()
    os.chown(folder, 4321, 4322)
    return folder
