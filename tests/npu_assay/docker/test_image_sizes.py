"""The layers of an image, from docker's history and the Dockerfile."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from dockerfile_parts import chain

from npu_assay.docker.dockerfile import Stage, plain, read_stages
from npu_assay.docker.sizes import ImageSizes, read_history, readable, sizes_table
from npu_assay.errors import UsageError

DOCKERFILE = """
ARG BASE=debian
FROM ${BASE} AS launcher
ARG INDEX
# a comment
WORKDIR /opt/x
COPY assay ./
RUN --mount=type=tmpfs,target=/a \\
    --mount=type=cache,target=/b \\
    apt-get update;   ./assay --version
FROM launcher AS judged-npu
RUN --mount=type=bind,target=/src npu-assay env install "$LOCK" --step nnal
FROM launcher AS torch
RUN npu-assay env install "$LOCK" --step torch ${FETCHED:+--from /fetched}
RUN npu-assay env install "$LOCK" --step nnal
"""
SHELL = "/bin/sh -eu -c"
#: As Docker 26 writes it: the newest first.
HISTORY = (
    (f'RUN {SHELL} npu-assay env install "$LOCK" --step nnal # buildkit', 10),
    (
        f'RUN {SHELL} npu-assay env install "$LOCK" --step torch ${{FETCHED:+--from /fetched}} # buildkit',
        1_920_000_000,
    ),
    (f"RUN |2 INDEX=a b LOCK=x {SHELL} apt-get update;   ./assay --version # buildkit", 592_000_000),
    ("COPY assay ./ # buildkit", 37_700),
    ("WORKDIR /opt/x", 0),
    ("ARG INDEX", 0),
    ('CMD ["bash"]', 0),
    ("", 199_000_000),
)


def lines(history: Iterable[tuple[str, int]]) -> list[str]:
    """What docker prints of it."""
    return [
        json.dumps({"CreatedBy": created, "Size": str(size), "ID": "<missing>"}) for created, size in history
    ]


@pytest.fixture
def stages(tmp_path: Path) -> dict[str, Stage]:
    path = tmp_path / "Dockerfile"
    path.write_text(DOCKERFILE)
    return dict(read_stages(path))


def of(sizes: ImageSizes) -> list[tuple[str, str, int]]:
    return [(layer.stage, layer.what, layer.bytes) for layer in sizes.layers]


def test_every_layer_has_its_stage_and_its_step(stages: dict[str, Stage]) -> None:
    sizes = read_history("image", lines(HISTORY), stages)
    assert of(sizes) == [
        ("base", "", 199_000_000),
        ("launcher", "COPY assay ./", 37_700),
        ("launcher", "RUN apt-get update; ./assay --version", 592_000_000),
        ("torch", "step torch", 1_920_000_000),
        ("torch", "step nnal", 10),
    ]
    assert sizes.bytes == sum(size for _, size in HISTORY)


def test_an_instruction_of_two_stages_is_that_of_the_one_that_was_gone_through(
    stages: dict[str, Stage],
) -> None:
    of_npu = read_history("image", lines([HISTORY[0], *HISTORY[2:]]), stages)
    assert of(of_npu)[-1] == ("judged-npu", "step nnal", 10)


def test_a_layer_of_another_dockerfile_is_shown_by_its_own_words(stages: dict[str, Stage]) -> None:
    strange = f"RUN {SHELL} {'x' * 80} # buildkit"
    sizes = read_history("image", lines([(strange, 5), ("LABEL a=b", 0), *HISTORY]), stages)
    assert of(sizes)[-1] == ("?", f"RUN {'x' * 55}…", 5)
    foreign = read_history("image", lines([(strange, 5)]), stages)
    assert of(foreign) == [("base", "", 5)]


def test_the_table_has_a_line_a_layer_and_the_total(stages: dict[str, Stage]) -> None:
    table = sizes_table(read_history("image", lines(HISTORY), stages)).splitlines()
    assert table[0].split() == ["base", "199", "MB"]
    assert table[-1].split() == ["total", "2.71", "GB"]
    assert len({len(line) for line in table}) == 1
    together = [line.split() for line in table if "(all of it)" in line]
    assert together[0] == ["launcher", "(all", "of", "it)", "592", "MB"]
    assert [stage for stage, *_ in together] == ["launcher", "torch"]


@pytest.mark.parametrize(
    "text", ["{}", '{"CreatedBy": "x"}', "no history", '{"CreatedBy": "x", "Size": "1MB"}']
)
def test_what_is_no_history_is_refused(stages: dict[str, Stage], text: str) -> None:
    assert read_history("image", lines(HISTORY), stages)
    with pytest.raises(UsageError, match="docker history of image: "):
        read_history("image", [*lines(HISTORY), text], stages)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (85, "85 B"),
        (999, "999 B"),
        (37_700, "37.7 kB"),
        (1_920_000_000, "1.92 GB"),
        (10**13, "1e+04 GB"),
    ],
)
def test_sizes_are_written_as_docker_writes_them(size: int, text: str) -> None:
    assert readable(size) == text


@pytest.mark.parametrize(
    ("device", "cann"), [("emulated", "emulated"), ("npu", "image"), ("npu", "run-packages")]
)
@pytest.mark.parametrize("image", ["runtime", "dev"])
def test_no_layer_of_the_projects_own_images_is_unknown(device: str, cann: str, image: str) -> None:
    arguments = {"DEVICE": device, "CANN": cann, "IMAGE": image, "CANN_IMAGE": "", "BASE": ""}
    gone_through = chain("image", arguments)
    expected, history = [("base", 1)], [("", 1)]
    for stage in gone_through:
        for line in stage.instructions:
            word, _, rest = plain(line).partition(" ")
            if word not in ("RUN", "COPY"):
                history.append((line, 0))
                continue
            created = (
                f"RUN |1 LOCK=x {SHELL} {rest} # buildkit" if word == "RUN" else f"{plain(line)} # buildkit"
            )
            history.append((created, 2))
            expected.append((stage.name, 2))
    sizes = read_history("image", lines(reversed(history)), read_stages())
    assert [(layer.stage, layer.bytes) for layer in sizes.layers] == expected
