"""BuildKit's plain progress: stages that are done, and why a build failed."""

from npu_assay.docker.build_log import BuildLog

#: Of Docker 26 with buildx 0.13, cut; two stages of two vertices, the first one wanted twice.
GOOD = """\
#1 [internal] load local bake definitions
#1 DONE 0.0s

#4 [base-emulated 1/1] FROM docker.io/library/debian:bookworm-slim
#4 DONE 0.0s

#7 [launcher 1/2] COPY assay pyproject.toml requirements.txt ./
#7 DONE 0.3s

#19 [launcher 2/2] RUN --mount=type=tmpfs,target=/var/cache/apt     apt-get update
#19 0.312 Hit:1 http://mirror.example/debian bookworm InRelease
#20 [linux/amd64 python 1/1] RUN npu-assay env install "cann900-vllm018" --step python
#19 DONE 59.8s

#4 [base-emulated 1/1] FROM docker.io/library/debian:bookworm-slim
#4 CACHED

#20 CACHED

#35 exporting to image
#35 DONE 5.7s
"""
FAILED = """\
#21 [judged-npu 1/2] RUN npu-assay env install "cann900-vllm018" --device "npu" --step cann
#21 0.501 npu-assay: a note
#21 0.739 npu-assay: 9.0.0 in /usr/local/Ascend is for aarch64, this machine is x86_64
#22 0.800 npu-assay: a note of another layer
#21 ERROR: process "/bin/sh -c npu-assay env install" did not complete successfully: exit code: 4
------
 > [judged-npu 1/2] RUN npu-assay env install:
failed
0.739 npu-assay: 9.0.0 in /usr/local/Ascend is for aarch64, this machine is x86_64
------
Dockerfile:115
ERROR: failed to solve: process "/bin/sh -c npu-assay env install" did not complete successfully: exit code: 4
"""


def fed(text: str) -> tuple[BuildLog, list[str]]:
    """What is read of it, and the lines that are said meanwhile."""
    log = BuildLog()
    said = [log.feed(f"{line}\n") for line in text.splitlines()]
    return log, [line for line in said if line is not None]


def test_a_stage_is_told_once_when_all_of_it_is_done() -> None:
    log, said = fed(GOOD)
    assert [line.split() for line in said] == [
        ["base-emulated", "0.0", "s"],
        ["launcher", "60.1", "s"],
        ["python", "cached"],
    ]
    assert log.untold() == []
    assert (log.error, log.failure, log.exit_code) == ("", "", None)


def test_what_buildkit_prints_behind_a_line_is_read_and_what_it_leaves_out_is_told_at_the_end() -> None:
    begun = GOOD.replace("#19 DONE", "#19 1.201 adaptations  #19 DONE")
    assert fed(begun)[1] == fed(GOOD)[1]
    log, said = fed(GOOD.replace("#19 DONE 59.8s\n", ""))
    assert [line.split()[0] for line in said] == ["base-emulated", "python"]
    assert [line.split() for line in log.untold()] == [["launcher", "done"]]


def test_of_a_build_that_failed_its_own_last_line_counts_and_the_code_of_what_failed() -> None:
    log, said = fed(FAILED)
    assert said == []
    assert log.error == "npu-assay: 9.0.0 in /usr/local/Ascend is for aarch64, this machine is x86_64"
    assert log.failure.startswith("failed to solve: process ")
    assert log.exit_code == 4


def test_the_launchers_last_line_counts_as_well() -> None:
    said = "assay: apt-get could not install git: E: Failed to fetch http://mirror.example/git.deb"
    log, _ = fed(
        f"#19 0.4 assay: installing git\n#19 9.1 {said}\n"
        '#19 ERROR: process "/tmp/assay machine git" did not complete successfully: exit code: 4\n'
    )
    assert log.error == said


def test_what_a_layer_said_that_did_not_fail_is_no_reason() -> None:
    log, _ = fed("#19 0.4 assay: making .venv\n#19 CANCELED\n#20 ERROR: no space left on device\n")
    assert log.error == ""


def test_a_failure_of_anything_else_has_buildkits_line() -> None:
    assert fed(FAILED)[0].error
    log, _ = fed("ERROR: failed to solve: debian:none: not found\n")
    assert (log.error, log.failure, log.exit_code) == ("", "failed to solve: debian:none: not found", None)
