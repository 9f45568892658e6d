"""`npu-assay docker build` and `docker sizes`, docker itself played by a script."""

import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from planted_docker import BASE_ID, ID, PlantedDocker

from npu_assay.cli import main
from npu_assay.digest import sha256_of
from npu_assay.docker.bake import BAKE_FILE
from npu_assay.docker.targets import ImageTarget, image_targets
from npu_assay.environment.lock import load_lock
from npu_assay.project import ROOT
from npu_assay.schemas import schema_file

LOCK = "cann900-vllm018"
NAME = f"{LOCK}-emulated-x86_64"
FILES = {"build.log", "digest", "image.json", "provenance.intoto.json", "sbom.cdx.json", "sizes.json"}


@pytest.fixture
def target() -> ImageTarget:
    return next(target for target in image_targets([load_lock(LOCK)]) if target.name == NAME)


@pytest.fixture
def docker(tmp_path: Path, target: ImageTarget, monkeypatch: pytest.MonkeyPatch) -> PlantedDocker:
    record = target.record("runtime", "debian:bookworm-slim", None)
    planted = PlantedDocker(tmp_path / "tools", NAME, record.model_dump_json())
    monkeypatch.setenv("PATH", planted.path)
    for name in re.findall(r'^variable "(\w+)"', BAKE_FILE.read_text(), re.MULTILINE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return planted


@dataclass(frozen=True)
class Ended:
    """What a shell would see of a command."""

    returncode: int
    stdout: str
    stderr: str


def npu_assay(*words: str) -> Ended:
    """The command line, in this process."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["npu-assay", "docker", *words]
    code = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.argv = before
    return Ended(code, out.getvalue(), err.getvalue())


def build(*words: str) -> Ended:
    ended = npu_assay("build", "--out", "told", *words)
    assert ended.returncode == 0, ended.stderr
    return ended


def told(name: str) -> dict:
    return json.loads(Path("told", name).read_bytes())


def test_a_build_leaves_what_is_told_of_the_image(docker: PlantedDocker) -> None:
    ended = build(NAME)
    assert ended.stderr.split() == ["launcher", "0.3", "s"]
    assert ended.stdout.splitlines()[-2:] == [f"image: npu-assay:{NAME} {ID} (id)", "told of it: told"]
    assert "launcher  COPY assay pyproject.toml requirements.txt ./  37.7 kB" in ended.stdout
    assert {path.name for path in Path("told").iterdir()} == FILES
    assert Path("told/digest").read_text() == f"{ID}\n"
    assert told("image.json")["target"] == NAME
    for file, schema in (("sizes.json", "image-sizes"), ("provenance.intoto.json", "image-provenance")):
        jsonschema.Draft202012Validator(json.loads(schema_file(schema).read_text())).validate(told(file))


def test_it_goes_to_a_folder_of_the_targets_name(docker: PlantedDocker) -> None:
    assert npu_assay("build", NAME).returncode == 0
    assert {path.name for path in Path("images", NAME).iterdir()} == FILES


def test_the_same_image_is_told_of_in_the_same_bytes(docker: PlantedDocker) -> None:
    def bytes_of() -> dict[str, bytes]:
        build(NAME)
        return {path.name: path.read_bytes() for path in Path("told").iterdir()}

    first = bytes_of()
    assert bytes_of() == first
    docker.inspected(ID, ID, f"npu-assay@{BASE_ID}")
    assert {name for name, data in bytes_of().items() if data != first[name]} >= {"digest", "sbom.cdx.json"}


def test_provenance_has_the_locks_artefacts_the_base_and_the_checkout(
    docker: PlantedDocker, target: ImageTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://me:secret@index.example/simple")
    for name in ("PIP_CONF", "APT_SOURCES"):
        monkeypatch.setenv(name, "secret.txt")
    Path("secret.txt").touch()
    build(NAME, "--", "--set", "*.args.HTTPS_PROXY=https://me:secret@proxy.example")
    found = told("provenance.intoto.json")
    assert "secret" not in json.dumps(found)
    assert found["subject"] == [
        {"name": f"npu-assay:{NAME}", "digest": {"sha256": "a" * 64}, "annotations": {"digestOf": "id"}}
    ]
    definition = found["predicate"]["buildDefinition"]
    assert definition["externalParameters"] == {
        "target": NAME,
        "variables": {
            "APT_SOURCES": "given",
            "PIP_CONF": "given",
            "PIP_INDEX_URL": "https://index.example/simple",
        },
        "arguments": ["--set", "*.args.HTTPS_PROXY=https://proxy.example"],
    }
    by_name = {one["name"]: one for one in definition["resolvedDependencies"]}
    lock = target.variant.lock
    assert by_name[f"ci/environments/{LOCK}.toml"]["digest"]["sha256"] == lock.sha256
    assert by_name["docker/Dockerfile"]["digest"]["sha256"] == sha256_of(ROOT / "docker/Dockerfile")
    torch = target.variant.component("torch")
    assert by_name[f"torch {torch.version}"]["digest"]["sha256"] == torch.artefact_sha256("x86_64")
    assert by_name["debian:bookworm-slim"]["digest"]["sha256"] == "b" * 64
    assert "npu-assay" in by_name
    details = found["predicate"]["runDetails"]
    assert details["builder"]["version"] == {"docker": "26.1.5", "buildx": "0.13.1"}
    assert {one["name"]: one["digest"]["sha256"] for one in details["byproducts"]} == {
        name: sha256_of(Path("told", name)) for name in ("image.json", "sbom.cdx.json", "sizes.json")
    }


def test_every_resource_has_a_uri_or_a_digest(docker: PlantedDocker) -> None:
    build(NAME)
    dependencies = told("provenance.intoto.json")["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert all({"uri", "digest"} & one.keys() for one in dependencies)
    (docker.folder / "inspected-debian:bookworm-slim.json").unlink()
    build(NAME)
    dependencies = told("provenance.intoto.json")["predicate"]["buildDefinition"]["resolvedDependencies"]
    by_name = {one["name"]: one for one in dependencies}
    assert all({"uri", "digest"} & one.keys() for one in dependencies)
    assert "digest" not in by_name["debian:bookworm-slim"]
    assert by_name["debian:bookworm-slim"]["uri"] == "pkg:docker/debian@bookworm-slim"
    assert by_name["cann 9.0.0"]["uri"] == "pkg:generic/cann@9.0.0?build=EMULATED"


def test_provenance_names_the_images_own_vllm_ascend_and_its_patches(docker: PlantedDocker) -> None:
    build(NAME)
    assert "own" not in json.dumps(told("provenance.intoto.json"))
    origin = {"kind": "git", "given": "git+https://example.org/v@main", "commit": "c" * 40, "dirty": True}
    origin |= {"tag": None, "notes": [], "tree_sha256": "d" * 64}
    files = {"own/vllm-ascend/origin.json": json.dumps(origin), "own/patches/0001-a.patch": "x"}
    docker.file("/opt/npu-assay/own", files)
    build(NAME)
    dependencies = told("provenance.intoto.json")["predicate"]["buildDefinition"]["resolvedDependencies"]
    source, patch = dependencies[-2:]
    assert source["digest"] == {"sha256": "d" * 64, "gitCommit": "c" * 40}
    assert source["annotations"]["uncommittedChanges"] == "yes"
    assert patch["name"] == "patches/0001-a.patch"


def test_the_bill_has_lock_base_packages_and_the_launchers_own(docker: PlantedDocker) -> None:
    build(NAME)
    bill = told("sbom.cdx.json")
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(json.dumps(bill)) is None
    assert validator.validate_str(json.dumps(bill | {"specVersion": 1.6})) is not None
    assert bill["metadata"]["component"]["version"] == ID
    by_ref = {one["bom-ref"]: one for one in bill["components"]}
    assert by_ref["base/debian:bookworm-slim"]["version"] == BASE_ID
    assert by_ref["pkg:deb/debian/adduser@3.134?arch=all&distro=debian-12"]["version"] == "3.134"
    assert not any("/gone@" in ref for ref in by_ref)
    assert any(ref.startswith("pkg:pypi/torch@") for ref in by_ref)
    assert any(ref.startswith("launcher/pkg:pypi/click@") for ref in by_ref)


def test_where_docker_has_a_registrys_digest_that_is_the_images(docker: PlantedDocker) -> None:
    docker.inspected(ID, ID, f"npu-assay@{BASE_ID}")
    build(NAME)
    assert Path("told/digest").read_text() == f"npu-assay@{BASE_ID}\n"
    assert told("provenance.intoto.json")["subject"][0]["annotations"] == {"digestOf": "manifest"}


FAILED = """\
#21 [judged-npu 1/2] RUN npu-assay env install
#21 0.739 npu-assay: --patch a.patch: does not apply to utils.py, hunk 1
#21 ERROR: process "/bin/sh -c npu-assay" did not complete successfully: exit code: {code}
ERROR: failed to solve: process "/bin/sh -c npu-assay" did not complete successfully: exit code: {code}
"""


@pytest.mark.parametrize(
    ("log", "code", "said"),
    [
        (FAILED.format(code=2), 2, "--patch a.patch: does not apply to utils.py, hunk 1"),
        (FAILED.format(code=4), 4, "--patch a.patch: does not apply to utils.py, hunk 1"),
        (FAILED.format(code=137), 4, "--patch a.patch: does not apply to utils.py, hunk 1"),
        ("ERROR: failed to solve: debian:none: not found\n", 4, "failed to solve: debian:none: not found"),
        ("", 4, "exit code 1"),
    ],
)
def test_a_build_that_fails_ends_with_the_line_and_the_code_from_inside(
    docker: PlantedDocker, log: str, code: int, said: str
) -> None:
    build(NAME)
    docker.answers("log", log)
    docker.answers("code", "1")
    ended = npu_assay("build", "--out", "failed", NAME)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr.splitlines()[-1] == f"npu-assay: {said}; all that was said: failed/build.log"
    assert {path.name for path in Path("failed").iterdir()} == {"build.log"}
    assert Path("failed/build.log").read_text() == log


def test_an_image_that_says_it_is_another_one_is_refused(docker: PlantedDocker, target: ImageTarget) -> None:
    build(NAME)
    other = target.record("runtime", "debian:trixie", None)
    docker.file("/opt/npu-assay/image.json", {"image.json": other.model_dump_json()})
    ended = npu_assay("build", "--out", "other", NAME)
    assert ended.returncode == 1
    assert (
        "in its image.json base is 'debian:trixie', its build was told 'debian:bookworm-slim'" in ended.stderr
    )
    assert docker.calls[-1] == "container rm --force container"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "cann900-vllm018-emulated"], "did you mean cann900-vllm018-emulated-x86_64?"),
        (["build", "cann900-vllm018"], "did you mean cann900-vllm018-emulated-"),
        (["build", "machine-x86_64"], "type: docker buildx bake -f docker/docker-bake.hcl machine-x86_64"),
        (["build", NAME, "--print"], f"type: docker buildx bake -f docker/docker-bake.hcl --print {NAME}"),
        (["sizes", "--json"], "Missing argument 'IMAGE'"),
    ],
)
def test_what_can_not_be_meant_is_refused(docker: PlantedDocker, words: list[str], message: str) -> None:
    build(NAME)
    ended = npu_assay(*words)
    assert ended.returncode == 2
    assert message in ended.stderr


def test_without_docker_it_says_so(docker: PlantedDocker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert npu_assay("sizes", "image").returncode == 0
    monkeypatch.setenv("PATH", "/nonesuch")
    for words in (["build", NAME], ["sizes", "image"]):
        ended = npu_assay(*words)
        assert ended.returncode == 4
        assert ended.stderr == "npu-assay: docker can't be run here (No such file or directory)\n"


def test_sizes_are_shown_and_printed_as_json(docker: PlantedDocker) -> None:
    assert npu_assay("sizes", "image").stdout.splitlines()[-1].split() == ["total", "199", "MB"]
    found = json.loads(npu_assay("sizes", "--json", "image").stdout)
    assert [layer["stage"] for layer in found["layers"]] == ["base", "launcher"]


def test_paths_of_variables_start_where_it_was_called(
    docker: PlantedDocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("series").mkdir()
    monkeypatch.setenv("PATCHES", "series")
    monkeypatch.setenv("VLLM_ASCEND", "git+https://example.org/v@main")
    build(NAME)
    assert docker.variables["PATCHES"] == f"{Path.cwd()}/series"
    assert docker.variables["VLLM_ASCEND"] == "git+https://example.org/v@main"
    parameters = told("provenance.intoto.json")["predicate"]["buildDefinition"]["externalParameters"]
    # A path of this machine is nobody else's affair.
    assert parameters["variables"] == {"PATCHES": "given", "VLLM_ASCEND": "git+https://example.org/v@main"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("PATCHES", "serie", "which is not there; expected a folder"),
        ("VLLM_ASCEND", "a-file", "which is none; expected a folder"),
        ("PIP_CONF", "series", "which is none; expected a file"),
    ],
)
def test_a_path_of_nothing_is_told_before_anything_is_built(
    docker: PlantedDocker, name: str, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("series").mkdir()
    Path("a-file").touch()
    build(NAME)
    calls = docker.calls
    monkeypatch.setenv(name, text)
    ended = npu_assay("build", NAME)
    assert (ended.returncode, ended.stderr) == (2, f"npu-assay: {name} is {Path.cwd() / text}, {said}\n")
    assert docker.calls == calls


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("IMAGE", "Dev", "Input should be 'runtime' or 'dev'"),
        ("REVISION", "a b", "String should match pattern '^\\S+$'"),
        ("BASE", "debian bookworm", "String should match pattern '^\\S+$'"),
    ],
)
def test_what_an_image_can_not_say_is_told_before_it_is_built(
    docker: PlantedDocker, name: str, value: str, said: str
) -> None:
    build(NAME)
    plan = json.loads((docker.folder / "plan.json").read_text())
    plan["target"][NAME]["args"][name] = value
    docker.answers("plan.json", json.dumps(plan))
    ended = npu_assay("build", "--out", "refused", NAME)
    assert (ended.returncode, ended.stderr) == (2, f"npu-assay: {name} is {value!r}: {said}\n")
    assert not Path("refused").exists()
