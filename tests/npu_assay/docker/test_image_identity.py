"""Which image a name stands for, from what docker answers."""

import json
import os
from pathlib import Path

import pytest

from npu_assay.docker.identity import identify, read_inspection

ID = f"sha256:{'a' * 64}"
MANIFEST = f"sha256:{'b' * 64}"


def answer(*digests: str, **more: object) -> str:
    return json.dumps([{"Id": ID, "RepoDigests": list(digests), "Size": 1, **more}])


@pytest.mark.parametrize(
    ("reference", "digests", "found"),
    [
        ("npu-assay:mine", (), ID),
        ("npu-assay", (f"npu-assay@{MANIFEST}",), f"npu-assay@{MANIFEST}"),
        (
            "registry.example:5000/me/npu-assay:1",
            (f"npu-assay@{ID}", f"registry.example:5000/me/npu-assay@{MANIFEST}"),
            f"registry.example:5000/me/npu-assay@{MANIFEST}",
        ),
        (ID, (f"npu-assay@{MANIFEST}",), f"npu-assay@{MANIFEST}"),
    ],
)
def test_a_registrys_digest_comes_before_the_id(reference: str, digests: tuple[str, ...], found: str) -> None:
    assert read_inspection(reference, answer(*digests)).digest == found
    assert read_inspection(reference, answer(RepoDigests=None)).digest == ID


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '[{"RepoDigests": []}]', '[{"Id": "latest"}]', answer("npu-assay@sha256:1")],
)
def test_an_answer_in_another_form_is_none(text: str) -> None:
    assert read_inspection("x", answer())
    with pytest.raises(ValueError, match=r"."):
        read_inspection("x", text)


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The script that plays docker."""
    script = tmp_path / "docker"
    script.write_text(f"#!/bin/sh\necho '{answer()}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return script


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'Error: No such image: x' >&2; exit 1", "docker: Error: No such image: x"),
        ("exit 125", "docker: exit code 125"),
        ("echo hello", "docker's answer is in no form that is known"),
        (None, "docker can't be run here (Permission denied)"),
    ],
)
def test_where_docker_does_not_know_it_the_reason_is_told(docker: Path, script: str | None, why: str) -> None:
    assert identify("x").digest == ID
    if script is None:
        docker.chmod(0o644)
        os.environ["PATH"] = str(docker.parent)  # which the fixture gives back
    else:
        docker.write_text(f"#!/bin/sh\n{script}\n")
    found = identify("x")
    assert (found.digest, found.why) == (None, why)


def test_a_name_with_its_digest_needs_no_docker(docker: Path) -> None:
    assert identify("x").digest == ID
    docker.write_text("#!/bin/sh\nexit 1\n")
    assert identify("x").digest is None
    for given in (f"npu-assay:1@{MANIFEST}", MANIFEST):
        assert identify(given).digest == given
