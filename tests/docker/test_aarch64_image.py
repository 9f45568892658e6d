"""ci/aarch64-image with a docker that only talks: what it says of a build, and when there can be none.

The build itself takes more than an hour; docs/images.md has the record of one.
"""

import os
import subprocess
from pathlib import Path

import pytest

from npu_assay.project import ROOT

#: What BuildKit prints with --progress=plain, cut short: two RUN in one stage, COPY beside them.
LOG = """\
#1 [internal] load local bake definitions
#1 DONE 0.0s
#8 [installer 1/4] COPY ci/environments/x.toml ci/environments/
#8 DONE 9.9s
#20 [launcher 3/3] RUN --mount=type=cache,target=/var/cache/pip touch README.md; ./assay --version
#20 12.25 making .venv
#21 [linux/arm64 built-emulated 1/2] RUN npu-assay env install --step cann
#21 DONE 1000.4s
#20 DONE 308.4s
#22 [linux/arm64 built-emulated 2/2] RUN npu-assay env install --step nnal
#22 DONE 20.3s
"""
DOCKER = """\
#!/bin/sh
case "$*" in
"buildx version") echo github.com/docker/buildx 0.13.1; exit "$NO_BUILDX" ;;
buildx\\ bake*) cat "$LOG" >&2; echo "${*##* }" >"$LOG.target"; exit "$BAKE" ;;
run*--platform\\ linux/arm64*) echo aarch64 torch-npu 2.9.0 ;;
image*) echo arm64 2934000000 ;;
version*) echo 26.1.5 ;;
esac
"""


def run(folder: Path, *arguments: str, buildx: int = 0, bake: int = 0) -> subprocess.CompletedProcess[str]:
    """The script, on a machine that needs no qemu, with what docker is to exit with."""
    (folder / "log").write_text(LOG)
    for name, text in {"docker": DOCKER, "uname": "#!/bin/sh\necho aarch64\n"}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    variables = {"LOG": str(folder / "log"), "NO_BUILDX": str(buildx), "BAKE": str(bake)}
    path = f"{folder}:{os.environ['PATH']}"
    return subprocess.run(
        [ROOT / "ci" / "aarch64-image", *arguments],
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_build_is_reported_with_the_seconds_of_its_stages(tmp_path: Path) -> None:
    ended = run(tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "log.target").read_text() == "cann900-vllm018-emulated-aarch64\n"
    report = ended.stdout.splitlines()
    assert "- engine: Docker 26.1.5, github.com/docker/buildx 0.13.1" in report
    (image,) = (line for line in report if line.startswith("- image: "))
    assert image.startswith("- image: cann900-vllm018-emulated-aarch64, arm64, 2.93 GB; ")
    assert image.endswith(" s: launcher 308 s, built-emulated 1021 s")
    assert "in it, without network: `aarch64 torch-npu 2.9.0`, " in report[-1]
    assert "#20 12.25 making .venv" in ended.stderr


@pytest.mark.parametrize(
    ("faults", "code", "said"),
    [
        ({"buildx": 1}, 4, "aarch64-image: no docker with buildx; ci/docker-engine installs it on Debian"),
        ({"bake": 17}, 17, "#20 DONE 308.4s"),
    ],
)
def test_where_there_is_no_build_there_is_no_report(
    faults: dict[str, int], code: int, said: str, tmp_path: Path
) -> None:
    assert run(tmp_path, "cann900-vllm0221").returncode == 0
    assert (tmp_path / "log.target").read_text() == "cann900-vllm0221-emulated-aarch64\n"
    ended = run(tmp_path, **faults)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert said in ended.stderr
