"""What is told of the emulated image, and what a run in it tells: by a real docker."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from engine import NAME, Build, Engine, machine_variables

from npu_assay.claims.case import Mode
from npu_assay.claims.verdict import verify
from npu_assay.docker.sizes import BASE, UNKNOWN
from npu_assay.evidence.image import read_image
from npu_assay.evidence.manifest import read_manifest

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]

TARGET = "cann900-vllm018-emulated-x86_64"


@pytest.fixture
def client(engine: Engine, tmp_path: Path) -> dict[str, str]:
    """Variables in which `docker` is the engine's client."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/docker").symlink_to(engine.client)
    return engine.variables() | {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def npu_assay(
    *words: str | Path, variables: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "npu_assay", *map(str, words)]
    return subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True, check=False)


def test_every_layer_of_the_image_is_a_stages(
    client: dict[str, str], emulated_image: str, tmp_path: Path
) -> None:
    ended = npu_assay("docker", "sizes", "--json", emulated_image, variables=client, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    layers = json.loads(ended.stdout)["layers"]
    stages = [layer["stage"] for layer in layers]
    assert stages[0] == BASE
    assert UNKNOWN not in stages
    by_step = {layer["what"]: layer["bytes"] for layer in layers}
    assert by_step["step torch"] > by_step["step vllm"] > by_step["step lmcache"]
    absent = npu_assay("docker", "sizes", "npu-assay-tests:nonesuch", variables=client, folder=tmp_path)
    assert absent.returncode == 4
    assert absent.stderr.startswith("npu-assay: docker: ")
    assert len(absent.stderr.splitlines()) == 1


def test_a_run_in_the_image_names_it_and_its_digest(
    client: dict[str, str], emulated_build: Build, runs: Path, tmp_path: Path
) -> None:
    image = emulated_build.image
    words = ("docker", "run", "--device", "emulated", "--out", runs, "--exec", image)
    stages = ("run", "--stage", "cann", "--stage", "health")
    ended = npu_assay(*words, *stages, "--out", "/npu-assay/runs/told", variables=client, folder=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    record = read_manifest(runs / "told/manifest.json").image
    assert record == read_image(runs / "told/image.json", "image.json")
    assert record is not None
    assert record.digest is not None
    assert (record.target, str(record.digest)) == (TARGET, f"{image} (id)")
    verdict = verify(runs / "told", Mode.LIMITED)
    found = [finding for finding in verdict.findings if finding.rule == "image/1"]
    assert {finding.result.value for finding in found} == {"pass"}
    assert any(image in finding.message for finding in found)

    wrong = ("--env", "NPU_ASSAY_IMAGE_DIGEST=latest", image, "run", "--stage", "cann")
    refused = subprocess.run(
        ["docker", "run", "--rm", "--network", "none", *wrong],
        env=client,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1].startswith(
        "npu-assay: NPU_ASSAY_IMAGE_DIGEST is 'latest', expected"
    )


def test_what_is_told_of_a_build(
    client: dict[str, str], engine: Engine, emulated_build: Build, offline: dict[str, str], tmp_path: Path
) -> None:
    """All of its layers are there already."""
    variables = client | {"NAME": NAME, **machine_variables(), **offline}
    options = engine.bake_options(TARGET, tmp_path, "none")
    out = tmp_path / "told"
    ended = npu_assay("docker", "build", "--out", out, TARGET, *options, variables=variables, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    stages = dict(line.split(maxsplit=1) for line in ended.stderr.splitlines())
    assert stages["torch"] == stages["built-emulated"] == "cached"
    assert (out / "digest").read_text() == f"{emulated_build.image}\n"
    bill = json.loads((out / "sbom.cdx.json").read_bytes())
    assert any(one["bom-ref"].startswith("pkg:deb/debian/python3.11") for one in bill["components"])
    provenance = (out / "provenance.intoto.json").read_text()
    (subject,) = json.loads(provenance)["subject"]
    assert f"sha256:{subject['digest']['sha256']}" == emulated_build.image
    assert offline["BASE"] in provenance
    assert offline["PIP_CONF"] not in provenance

    broken = npu_assay(
        *("docker", "build", "--out", tmp_path / "broken", TARGET, *options),
        *("--set", "*.args.DEVICE=nonesuch"),
        variables=variables,
        folder=tmp_path,
    )
    assert broken.returncode == 4
    assert broken.stderr.splitlines()[-1].endswith(f"all that was said: {tmp_path / 'broken/build.log'}")
    assert [path.name for path in (tmp_path / "broken").iterdir()] == ["build.log"]
