"""`npu-assay env check` and its neighbours, from outside: what they print, their schemas and exit codes."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from npu_assay import schemas
from npu_assay.commands.env import env
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import load_lock
from npu_assay.errors import AssayError


def run(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a command; of an error, its line."""
    result = CliRunner().invoke(env, arguments)
    if isinstance(result.exception, AssayError):
        return result.exception.exit_code, f"{result.output}{result.exception}\n"
    return result.exit_code, result.output


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schemas.schema_file(name).read_text()))


def test_no_schema_is_stale() -> None:
    assert schemas.stale() == []


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv of somebody's own, with nothing in it."""
    folder = tmp_path_factory.mktemp("own") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder


def test_check_of_an_own_venv_tells_everything_and_exits_1(venv: Path) -> None:
    code, output = run("check", "--device", "emulated", "--venv", str(venv))
    assert code == 1
    assert "problem  torch is not installed, the lock says 2.9.0\n" in output
    assert f"-> {venv}/bin/python -m pip install --no-deps --force-reinstall torch==2.9.0\n" in output
    assert output.splitlines()[-1].endswith(" differences from the lock cann900-vllm018")
    assert "numpy is not installed" in output


def test_check_prints_json_that_its_schema_describes(venv: Path) -> None:
    code, output = run("check", "--json", "--device", "npu", "--python", f"{venv}/bin/python")
    assert code == 1
    document = json.loads(output[: output.rindex("}") + 1])
    validator("env-check").validate(document)
    assert document["drifted"] is True
    assert document["kind"] == "hardware"
    assert {row["check"] for row in document["differences"]} >= {"component-missing", "requirement-missing"}
    document["differences"][0]["severity"] = 1
    with pytest.raises(jsonschema.ValidationError, match="'severity' was unexpected"):
        validator("env-check").validate(document)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("check", "--device", "emulated"), 4, "cann900-vllm018 is not installed in "),
        (("check", "--device", "emulated"), 4, "npu-assay env install cann900-vllm018 --device emulated"),
        (("check", "cann851-vllm018", "--device", "emulated"), 4, "is for an NPU only"),
        (("check", "--venv", "/nowhere"), 4, "/nowhere: no bin/python, so no virtual environment"),
        (("check", "--python", "/nowhere"), 4, "/nowhere: can't be asked where its packages are"),
        (("check", "--python", "/a", "--venv", "/b"), 2, "--venv and --python name the same thing"),
        (
            ("fetch", "--to", "/proc/x"),
            4,
            "can't write the files: /proc/x: No such file or directory; make room",
        ),
        (("edit-triton",), 2, "name the venv with --venv or its Python with --python"),
        (("diff", "cann900-vllm018:moon", "cann900-vllm018"), 2, "hardware or emulated, found 'moon'"),
        (("diff", "cann900-vllm018", "moon"), 2, "no environment 'moon'"),
        (
            ("lock", "cann900-vllm018", "a.run"),
            2,
            "type: npu-assay env lock cann900-vllm018 --record FILE...",
        ),
        (("lock", "cann900-vllm018", "--record"), 2, "--record needs at least one FILE"),
        (("lock", "cann900-vllm018", "--record", "/nowhere/a.run"), 2, "no component of cann900-vllm018 is"),
    ],
)
def test_a_mistake_has_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, says: str
) -> None:
    monkeypatch.setenv("NPU_ASSAY_CACHE", str(tmp_path))
    assert run(*arguments)[0] == code
    assert says in run(*arguments)[1]


def test_diff_of_two_locks_tells_what_changes() -> None:
    code, output = run("diff", "cann900-vllm018:emulated", "cann900-vllm0221:emulated")
    assert code == 0
    lines = [" ".join(line.split()) for line in output.splitlines()]
    assert "torch.version 2.9.0 -> 2.10.0" in lines
    assert "vllm-ascend.version 0.18.0 -> 0.22.1rc1" in lines
    assert "vllm-ascend.commit only A: e18643f8a4d5bd9990727654318ad069ea0b56e2" in lines
    assert run("diff", "cann900-vllm018:emulated", "cann900-vllm018:emulated") == (
        0,
        "cann900-vllm018 (emulated) and cann900-vllm018 (emulated) install the same\n",
    )


def test_diff_tells_components_and_requirements_that_one_side_has_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, output = run(
        "diff", "cann900-vllm018-torch210:hardware", "cann900-vllm018-torch210:emulated", "--json"
    )
    assert code == 0
    document = json.loads(output)
    validator("env-diff").validate(document)
    changes = {row["what"]: (row["a"], row["b"]) for row in document["components"]}
    assert changes["components.lmcache-ascend"] == ("0.4.4 from git", None)
    assert changes["components.cann.build"] == ("V100R001C10SPC001B250", "EMULATED")
    assert document["requirements"] == []
    assert not [what for what in changes if what.endswith((".notes", ".deviation", ".emulated"))]


def test_export_writes_a_file(tmp_path: Path) -> None:
    file = tmp_path / "constraints.txt"
    assert run("export", "--device", "emulated", "--output", str(file)) == (0, "")
    assert file.read_text() == run("export", "--device", "emulated")[1]
    assert "\ntorch==2.9.0\n" in file.read_text()
    code, bill = run("export", "--device", "npu", "--format", "cyclonedx")
    assert (code, json.loads(bill)["specVersion"]) == (0, "1.6")


def test_lock_tells_what_is_still_to_be_recorded() -> None:
    code, output = run("lock", "cann851-vllm018")
    assert code == 0
    assert "components.nnal.sha256.aarch64 is unverified: Ascend-cann-nnal_8.5.1_linux-aarch64.run" in output


def test_prune_tells_before_it_removes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_ASSAY_CACHE", str(tmp_path))
    old = tmp_path / "environments" / "cann900-vllm018-0123456789abcdef"
    old.mkdir(parents=True)
    (old / "file").write_bytes(bytes(3 << 20))
    code, output = run("prune", "--dry-run")
    assert (code, output.splitlines()) == (
        0,
        [
            "     3 MiB  environments/cann900-vllm018-0123456789abcdef  (half-made)",
            f"     3 MiB would be freed in {tmp_path}",
        ],
    )
    assert old.is_dir()
    assert run("prune", "--older-than", "1")[1] == f"     0 MiB are freed in {tmp_path}\n"
    assert run("prune")[1].endswith(f"     3 MiB are freed in {tmp_path}\n")
    assert not old.exists()


def test_every_lock_of_ours_is_valid_by_the_published_schema() -> None:
    for lock in map(load_lock, ("cann851-vllm018", "cann900-vllm018-torch210")):
        document = tomllib.loads(lock.path.read_text())
        validator("lock").validate(document)
        document["components"]["torch"]["sha265"] = {}
        with pytest.raises(jsonschema.ValidationError):
            validator("lock").validate(document)


@pytest.mark.environment
def test_the_installed_environment_is_as_its_lock_says(environment: Environment) -> None:
    code, output = run("check", "--device", "emulated")
    assert (code, output.count("problem")) == (0, 0), output
    assert str(environment.site_packages) in output
