"""A container of the emulated image: who it is, what its shells see, what is missing, how it is."""

import json
import os
import stat
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from documented_commands import documented_runs
from engine import Engine

from npu_assay.digest import sha256_of
from npu_assay.project import ENVIRONMENTS

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]

CLOSED = ("--network=none", "--read-only")
SCRATCH = "--tmpfs=/tmp:exec"
ANYBODY = "--user=12345:54321"
IMPORTS = "import os, torch_npu; print(torch_npu.__name__, os.getuid(), os.getgid())"


def test_it_starts_as_any_user_with_a_read_only_root_and_no_network(
    engine: Engine, emulated_image: str
) -> None:
    options = (*CLOSED, SCRATCH, ANYBODY)
    ended = engine.run(emulated_image, "python", "-c", IMPORTS, options=options)
    assert ended.stdout.splitlines()[-1] == "torch_npu 12345 54321"
    assert "entrypoint:" not in ended.stderr
    assert "no problem" in engine.run(emulated_image, "doctor", options=options).stdout
    ended = engine.run(emulated_image, "python", "-c", IMPORTS, options=(*CLOSED, ANYBODY), check=False)
    assert "entrypoint: can't write /tmp; docker run --read-only needs --tmpfs /tmp:exec" in ended.stderr


@pytest.mark.parametrize("shell", ["sh -c", "dash -c", "dash -lc", "bash -c", "bash -lc", "bash -ic", None])
def test_every_kind_of_shell_has_canns_variables(
    shell: str | None, engine: Engine, emulated_image: str
) -> None:
    """`acl` is CANN's own module: it needs its folder, and its libraries."""
    program, *arguments = (
        [*shell.split(), "python -c 'import acl'"] if shell else ["python", "-c", "import acl"]
    )
    options = (*CLOSED, SCRATCH)
    engine.run(emulated_image, program, *arguments, options=options)
    # Past the entry point nothing of it is there.
    past = (*options, f"--entrypoint={program}")
    assert engine.run(emulated_image, *arguments, options=past, check=False).returncode != 0


def test_the_documented_program_runs(engine: Engine, emulated_image: str, tmp_path: Path) -> None:
    (command,) = [words for words in documented_runs(emulated_image, str(tmp_path)) if "python" in words]
    engine.docker(*command)
    assert "no_such_module" in engine.docker(*command[:-1], "import no_such_module", check=False).stderr


@pytest.fixture
def started(engine: Engine, emulated_image: str) -> Iterator[list[str]]:
    """Names of containers, which are removed in the end: give one to `docker run --detach --name`."""
    names = [f"npu-assay-{os.getpid()}-{number}" for number in range(2)]
    yield names
    engine.docker("rm", "--force", *names, check=False)


def test_docker_exec_goes_through_the_entry_point(
    engine: Engine, emulated_image: str, started: list[str]
) -> None:
    name = started[0]
    engine.docker("run", "--detach", "--name", name, *CLOSED, SCRATCH, emulated_image, "sleep", "600")
    program = ["python", "-c", "import acl"]
    engine.docker("exec", name, "/opt/npu-assay/docker/entrypoint", *program)
    assert engine.docker("exec", name, *program, check=False).returncode != 0


def health(engine: Engine, container: str) -> tuple[str, str]:
    """Its state, once that is known, and what the last look at it said."""
    for _ in range(600):
        said = engine.docker("inspect", "--format", "{{json .State.Health}}", container).stdout
        found = json.loads(said)
        if found["Status"] != "starting":
            return found["Status"], found["Log"][-1]["Output"]
        time.sleep(0.2)
    raise AssertionError(f"still starting: {said}")


def test_the_health_check_knows_a_container_that_is_broken(
    engine: Engine, emulated_image: str, started: list[str]
) -> None:
    often = ["--health-interval=1s", "--health-retries=1", "--health-start-period=0s"]
    for name, broken in zip(started, ((), ("--tmpfs=/opt/npu-assay/cache/emulator",)), strict=True):
        run = ["run", "--detach", "--name", name, *often, *CLOSED, SCRATCH, *broken]
        # Past the entry point, which would not start anything in the broken one.
        engine.docker(*run, "--entrypoint=sleep", emulated_image, "600")
    good, bad = (health(engine, name) for name in started)
    assert good[0] == "healthy", good
    assert bad[0] == "unhealthy", bad
    assert "emulator" in bad[1]


def test_a_device_nodes_group_is_kept_when_root_is_given_up(
    engine: Engine, emulated_image: str, runs: Path, tmp_path: Path
) -> None:
    node = tmp_path / "davinci0"
    os.mknod(node, stat.S_IFCHR | 0o660, os.makedev(1, 3))  # /dev/null's numbers: harmless
    os.chown(node, 0, 1777)
    node.chmod(0o660)
    options = [*CLOSED, SCRATCH, f"--volume={runs}:/npu-assay/runs", f"--device={node}:/dev/davinci0"]
    write = ["sh", "-c", "id -u; id -g; id -G; echo x >/dev/davinci0"]
    assert engine.run(emulated_image, *write, options=options).stdout.split() == [
        "4321",
        "4322",
        "4322",
        "1777",
    ]
    added = engine.run(emulated_image, *write, options=[*options, "--group-add=1888"])
    assert added.stdout.split()[2:] == ["4322", "1777", "1888"]
    # --user is taken as it is, so its groups are the caller's affair.
    ended = engine.run(emulated_image, *write, options=[*options, ANYBODY], check=False)
    assert ended.returncode != 0
    assert "davinci0" in ended.stderr


def test_an_npus_image_says_which_group_a_user_lacks(
    engine: Engine, emulated_image: str, tmp_path: Path
) -> None:
    node = tmp_path / "davinci0"
    os.mknod(node, stat.S_IFCHR | 0o660, os.makedev(1, 3))
    os.chown(node, 0, 1777)
    node.chmod(0o660)
    options = [*CLOSED, SCRATCH, f"--device={node}:/dev/davinci0", "--env=NPU_ASSAY_DEVICE=npu", ANYBODY]
    line = "entrypoint: uid 12345 may not use /dev/davinci0; docker run needs --group-add 1777"
    given = engine.run(emulated_image, "--version", options=[*options, "--group-add=1777"])
    assert line not in given.stderr
    assert "no /dev/davinci_manager" in given.stderr
    assert line in engine.run(emulated_image, "--version", options=options).stderr


def test_labels_are_the_locks(engine: Engine, emulated_image: str) -> None:
    said = engine.docker("image", "inspect", "--format", "{{json .Config.Labels}}", emulated_image).stdout
    labels = json.loads(said)
    path = ENVIRONMENTS / "cann900-vllm018.toml"
    assert labels["npu-assay.lock"] == path.stem
    assert labels["npu-assay.lock.sha256"] == sha256_of(path)
    components = tomllib.loads(path.read_text())["components"]
    commits = {
        f"npu-assay.commit.{name}": one["commit"] for name, one in components.items() if "commit" in one
    }
    assert commits
    assert {name: label for name, label in labels.items() if ".commit." in name} == commits
    # The lock that is in there is the one that they name.
    inside = engine.run(emulated_image, "sha256sum", f"/opt/npu-assay/ci/environments/{path.name}").stdout
    assert inside.split()[0] == labels["npu-assay.lock.sha256"]
