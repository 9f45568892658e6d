"""Nothing that only the building of an image needs is in it, in no layer."""

from pathlib import Path

import pytest
from engine import Engine
from layers import LEFT_OVERS, SECRET, left_overs

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]

PLANTED = f"""\
FROM debian:bookworm-slim
RUN --mount=type=secret,id=pip-conf,target=/etc/pip.conf cat /etc/pip.conf >/opt/kept
RUN mkdir -p /opt/x ~/.cache/pip /var/cache/pip /var/lib/apt/lists /var/cache/apt /usr/share/python-wheels; \\
    for file in /opt/x/a.whl /opt/x/a.deb ~/.cache/pip/b /var/cache/pip/c /var/lib/apt/lists/d \\
        /var/cache/apt/pkgcache.bin ~/.pip.conf /usr/share/python-wheels/pip.whl; do echo x >$file; done
RUN rm /opt/x/a.whl /opt/kept
LABEL x="{SECRET}"
"""


def test_nothing_is_left_in_a_layer(engine: Engine, emulated_image: str, base: str) -> None:
    assert left_overs(engine, emulated_image, base) == []


def test_what_is_left_is_found_even_when_a_later_layer_removes_it(
    engine: Engine, base: str, secrets: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "Dockerfile").write_text(PLANTED.replace("debian:bookworm-slim", base))
    build = ["buildx", "build", "--quiet", "--secret", f"id=pip-conf,src={secrets['PIP_CONF']}"]
    image = engine.docker(*build, "--network=none", tmp_path).stdout.strip()
    found = left_overs(engine, image, base)
    assert {line.rpartition(": ")[2] for line in found} == {*LEFT_OVERS, "a secret"}
    assert "opt/kept: a secret" in found
    assert "opt/x/a.whl: a package" in found
    assert any(line.startswith("blobs/") for line in found)  # the label
    assert not any("python-wheels" in line for line in found)
