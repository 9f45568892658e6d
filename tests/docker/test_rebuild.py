"""What a change makes anew: by the layers that BuildKit took from its cache."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from build_steps import BuiltStep, build_steps, made_anew
from engine import Build

TARGET = "cann900-vllm018-emulated-x86_64"

LOG = """\
#5 [installer  1/11] WORKDIR /npu-assay/src
#5 DONE 0.0s

#7 [installer  2/11] COPY ci ci
#7 CACHED

#9 [torch 1/1] RUN npu-assay env install
#9 0.4 #7 CACHED is what it prints
#9 DONE 3.2s
"""


def test_a_log_is_read() -> None:
    assert build_steps(LOG) == [
        BuiltStep("installer", "WORKDIR /npu-assay/src", False),
        BuiltStep("installer", "COPY ci ci", True),
        BuiltStep("torch", "RUN npu-assay env install", False),
    ]
    assert made_anew(LOG) == {"torch"}
    assert made_anew(LOG + "#9 CACHED\n") == set()


@pytest.fixture(scope="module")
def before(bake_offline: Callable[..., Build], emulated_build: Build, checkout: Path) -> Build:
    """The copy's image: of the checkout itself a few layers differ, as it may have empty folders."""
    return bake_offline(TARGET, checkout=checkout)


@pytest.mark.docker
@pytest.mark.xdist_group("docker")
@pytest.mark.parametrize(
    ("file", "anew"),
    [
        (None, set()),
        ("src/vllm_ascend_params/pyproject.toml", {"image"}),
        ("src/npu_assay/commands/run.py", {"image"}),
        ("src/npu_assay/suites/versions_and_paths.py", {"image"}),
        ("docker/entrypoint", {"image"}),
        ("ci/environments/cann900-vllm0221.toml", {"image"}),
    ],
)
def test_a_line_more_makes_the_last_layers_anew(
    file: str | None,
    anew: set[str],
    bake_offline: Callable[..., Build],
    before: Build,
    checkout: Path,
) -> None:
    path = checkout / (file or "README.md")
    content = path.read_bytes()
    if file is not None:
        path.write_bytes(content + f"\n# {uuid4()}\n".encode())  # which no build has seen
    try:
        build = bake_offline(TARGET, checkout=checkout)
    finally:
        path.write_bytes(content)
    assert build.returncode == 0, build.log[-3000:]
    assert {step.stage for step in build_steps(build.log)} >= {"launcher", "torch", "image"}
    assert made_anew(build.log) == anew
    assert (build.image == before.image) == (file is None)
