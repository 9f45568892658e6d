"""`npu-assay docker run` and `docker compose` on planted hosts, docker itself played by a script."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from planted_container_host import a2, plant_host
from planted_npu_smi import plant_npu_smi

from npu_assay.commands.docker import docker
from npu_assay.docker.example import PATH, example

ID = "sha256:" + "a" * 64
#: Knows an image, prints its words otherwise, a line each, and ends as a container's command would.
DOCKER = f"""#!/bin/sh
[ "$1 $2" != "image inspect" ] || {{ echo '[{{"Id": "{ID}", "RepoDigests": []}}]'; exit 0; }}
printf '%s\\n' "$@"
exit 7
"""
KEPT = ("--cache", "a cache")


@pytest.fixture
def host(tmp_path, monkeypatch) -> Path:
    """The root of a host of two 910B3, whose npu-smi is on PATH; folders with spaces in their names."""
    tools = plant_npu_smi(tmp_path / "tools", a2((0, 3)))
    (tools / "docker").write_text(DOCKER)
    (tools / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NPU_ASSAY_LOCKS", str(tmp_path / "locks"))
    monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)
    here = tmp_path / "a place"
    here.mkdir()
    monkeypatch.chdir(here)
    return plant_host(tmp_path / "root", (0, 1))


def npu_assay(*words: str) -> subprocess.CompletedProcess[str]:
    """The real command line: --exec takes the process's place."""
    return subprocess.run(
        [sys.executable, "-m", "npu_assay", *words], capture_output=True, text=True, check=False
    )


def test_the_command_is_printed_and_starts_in_a_shell(host, tmp_path):
    ended = CliRunner().invoke(
        docker, ["run", "--root", str(host), "--dies", "2", *KEPT, "image", "run", "--shard"]
    )
    assert (ended.exit_code, ended.stderr) == (0, "")
    said = subprocess.run(["/bin/sh", "-c", ended.stdout], capture_output=True, text=True, check=False)
    assert said.returncode == 7
    words = said.stdout.splitlines()
    assert words[0] == "run"
    assert words[-3:] == [ID, "run", "--shard"]
    assert ["NPU_ASSAY_IMAGE=image", f"NPU_ASSAY_IMAGE_DIGEST={ID}"] == [
        word for word in words if word.startswith("NPU_ASSAY_IMAGE")
    ]
    assert f"{tmp_path}/a place/runs:/npu-assay/runs" in words
    assert (tmp_path / "a place/runs").is_dir()
    assert f"{tmp_path}/a place/a cache/trees:/opt/npu-assay/cache/trees" in words
    assert (tmp_path / "a place/a cache/trees").is_dir()
    assert stat.S_IMODE((tmp_path / "locks").stat().st_mode) == 0o1777


def test_exec_runs_what_is_printed(host, tmp_path):
    words = ["docker", "run", "--root", str(host), "--dies", "2", "--exec", "image", "run"]
    ended = npu_assay(*words)
    assert (ended.returncode, ended.stderr) == (7, "")
    printed = CliRunner().invoke(docker, [word for word in words[1:] if word != "--exec"]).stdout
    said = subprocess.run(["/bin/sh", "-c", printed], capture_output=True, text=True, check=False)
    assert said.stdout == ended.stdout
    assert stat.S_IMODE((tmp_path / "locks").stat().st_mode) == 0o1777
    assert printed.startswith("docker run"), "folders that are there are not made again"


def test_without_docker_exec_says_what_to_do(host, monkeypatch):
    words = ["docker", "run", "--device", "emulated", "--exec", "image"]
    assert npu_assay(*words).returncode == 7
    monkeypatch.setenv("PATH", "/nonesuch")
    ended = npu_assay(*words)
    assert (ended.returncode, ended.stdout) == (2, "")
    says = "docker: can't be run (No such file or directory); install docker, or leave out --exec"
    assert ended.stderr.splitlines()[-1] == f"npu-assay: {says}"


def test_where_docker_does_not_know_the_image_its_name_is_given_with_a_note(host, tmp_path):
    words = ["run", "--root", str(host), "image", "run"]
    known = CliRunner().invoke(docker, words)
    assert (known.stderr, known.stdout.splitlines()[-1]) == ("", f"  {ID} run")
    (tmp_path / "tools/docker").write_text("#!/bin/sh\necho 'no such image' >&2\nexit 1\n")
    unknown = CliRunner().invoke(docker, words)
    assert unknown.exit_code == 0
    says = "image: no digest here, so the archive will not say which image it was: docker: no such image"
    assert unknown.stderr == f"npu-assay: {says}\n"
    assert unknown.stdout.splitlines()[-1] == "  image run"
    assert "NPU_ASSAY_IMAGE=image" in unknown.stdout
    assert "NPU_ASSAY_IMAGE_DIGEST" not in unknown.stdout


def test_every_option_is_explained(host):
    said = CliRunner().invoke(docker, ["run", "--root", str(host), "--explain", "-t", "image", "a b"]).stdout
    first, *options, image = said.splitlines()
    assert (first, image.strip()) == ("docker run", f"{ID} 'a b'")
    assert all(line.partition("  # ")[2] for line in options)
    for option in ("--device /dev/davinci0", "--interactive --tty"):
        assert any(line.startswith(f"  {option} ") for line in options)


def test_what_is_missing_stops_exec_and_is_said_a_line_each(host, tmp_path):
    words = ["docker", "run", "--root", str(host), "--exec", "image"]
    assert npu_assay(*words).returncode == 7
    (host / "dev/hisi_hdc").unlink()
    (host / "usr/local/bin/npu-smi").unlink()
    ended = npu_assay(*words)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert [line.partition(": docker run needs ")[2] for line in ended.stderr.splitlines()] == [
        "--device /dev/hisi_hdc",
        "-v /usr/local/bin/npu-smi:/usr/local/bin/npu-smi:ro",
    ]


def test_without_an_npu_the_container_emulates_one(host):
    with_npus = CliRunner().invoke(docker, ["run", "--root", str(host), "image"])
    assert "--device" in with_npus.stdout
    chosen = CliRunner().invoke(docker, ["run", "--root", str(host), "--device", "emulated", "image"])
    for node in (host / "dev").iterdir():
        node.unlink()
    found = CliRunner().invoke(docker, ["run", "--root", str(host), "image"])
    assert (chosen.exit_code, found.exit_code) == (0, 0)
    assert chosen.stdout == found.stdout
    assert "--device" not in found.stdout
    asked = CliRunner().invoke(docker, ["run", "--root", str(host), "--device", "npu", "image"])
    assert "so no NPU; use --device emulated" in str(asked.exception)


def test_inside_a_container_the_paths_may_be_others(host):
    words = ["run", "--root", str(host), "image"]
    assert CliRunner().invoke(docker, words).stderr == ""
    (host / ".dockerenv").touch()
    ended = CliRunner().invoke(docker, words)
    assert ended.exit_code == 0
    assert ended.stderr.startswith(
        "npu-assay: this is a container: docker takes the paths and nodes of the host"
    )


def test_a_model_whose_files_lie_elsewhere_is_told(host, tmp_path):
    model = tmp_path / "a model"
    model.mkdir()
    (model / "config.json").touch()
    (model / "weights").symlink_to("config.json")
    words = ["run", "--root", str(host), "--model", str(model), "image"]
    good = CliRunner().invoke(docker, words)
    assert (good.exit_code, good.stderr) == (0, "")
    assert f"-v '{model}:{model}:ro'" in good.stdout
    (tmp_path / "blob").touch()
    (model / "shard").symlink_to("../blob")
    assert "shard leads out of" in CliRunner().invoke(docker, words).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--explain", "--exec", "image"], "--explain prints, --exec runs"),
        (["run", "--", "-image"], "-image: no such option, and no image"),
        (["run", "--dies", "3", "image"], "3 free dies wanted for the container, 2 found"),
    ],
)
def test_what_can_not_be_meant_is_refused(host, words, message):
    assert CliRunner().invoke(docker, ["run", "--root", str(host), "image"]).exit_code == 0
    ended = CliRunner().invoke(docker, [words[0], "--root", str(host), *words[1:]])
    assert message in str(ended.exception)


def test_compose_has_a_service_a_die_or_one_for_both(host, tmp_path):
    apart = CliRunner().invoke(docker, ["compose", "--root", str(host), "image", "run"])
    assert (apart.exit_code, apart.stderr) == (0, "")
    assert [line for line in apart.stdout.splitlines() if line.startswith("  npu")] == ["  npu0:", "  npu1:"]
    assert f'"{tmp_path}/a place/runs/npu1"' in apart.stdout
    together = CliRunner().invoke(docker, ["compose", "--root", str(host), "--together", "image", "run"])
    assert [line for line in together.stdout.splitlines() if line.startswith("  npu")] == ["  npu:"]
    assert 'ASCEND_RT_VISIBLE_DEVICES: "0,1"' in together.stdout


def test_compose_says_once_what_all_services_lack(host):
    words = ["compose", "--root", str(host), "image"]
    assert CliRunner().invoke(docker, words).exit_code == 0
    (host / "dev/hisi_hdc").unlink()
    (host / "usr/local/dcmi/libdcmi.so").unlink()
    (host / "usr/local/dcmi").rmdir()
    ended = CliRunner().invoke(docker, words)
    assert ended.exit_code == 1
    assert ended.stderr.splitlines() == [
        "npu-assay: no /dev/hisi_hdc (the channel between host and die): "
        "docker run needs --device /dev/hisi_hdc"
    ]
    assert str(ended.exception).endswith("docker run needs -v /usr/local/dcmi:/usr/local/dcmi:ro")


def test_compose_takes_a_dollar_as_it_is(host):
    said = CliRunner().invoke(docker, ["compose", "--root", str(host), "image", "echo", "$HOME"]).stdout
    assert 'command: ["echo", "$$HOME"]' in said


def test_the_committed_compose_file_is_what_is_written():
    assert PATH.read_text() == example(), f"{PATH} is stale: ci/compose writes it again"


def test_the_committed_compose_file_is_that_of_a_planted_host(host, tmp_path):
    """But for user, group, folders and the model, which are the caller's."""
    words = ["compose", "--root", str(host), "npu-assay:cann900-vllm018-run-packages-aarch64"]
    services = CliRunner().invoke(docker, words).stdout.partition("services:")[2]
    bind = "      - {type: bind, source: "
    of_host = ('      - "/dev/', f'{bind}"/usr', f'{bind}"/etc')
    own = [line for line in services.splitlines() if line.startswith(of_host)]
    assert len(own) == 2 * 9
    several = ("hccn_tool", "hccn.conf")
    committed = [line for line in example().splitlines() if line.startswith(of_host)]
    assert own == [line for line in committed if not any(word in line for word in several)]
