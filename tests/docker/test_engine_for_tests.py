"""What an engine for these tests needs: what is said where it is missing; what ci/docker-engine installs."""

from pathlib import Path

import pytest
from debian_base import Source, base_name, sources_of
from engine import Engine, missing, refuse

from npu_assay.project import ROOT


def program(path: Path, text: str) -> None:
    """A stand-in: a shell script."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


GOOD = {
    "dockerd": "echo Docker version 26.1.5+dfsg1, build 411e817",
    "docker": "exit 0",
    **dict.fromkeys(("containerd", "runc", "debootstrap", "ip", "openssl", "setpriv", "unshare"), "exit 0"),
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"runc": None}, "no runc: ci/docker-engine installs it"),
        (
            {"dockerd": "echo Docker version 20.10.24+dfsg1, build 297e128"},
            "dockerd is too old, expected 23 or later (Docker version 20.10.24+dfsg1, build 297e128);"
            " Debian 12's is: ci/docker-engine installs it",
        ),
        ({"docker": "exit 1"}, "no docker that has buildx: ci/docker-engine installs it"),
    ],
)
def test_what_is_missing_is_one_line(
    change: dict[str, str | None], said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    for name, text in {**GOOD, **change}.items():
        if text is not None:
            program(tmp_path / "bin" / name, text)
    assert missing(f"{tmp_path}/bin") == said


def test_an_old_client_before_a_good_one_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    for name, text in GOOD.items():
        program(tmp_path / "good" / name, text)
    program(tmp_path / "old" / "docker", "exit 1")
    assert missing(f"{tmp_path}/old:{tmp_path}/good") is None
    assert missing(f"{tmp_path}/old") is not None


def test_without_an_engine_a_test_is_skipped_but_in_continuous_integration() -> None:
    with pytest.raises(pytest.skip.Exception, match="no dockerd"):
        refuse("no dockerd", {})
    with pytest.raises(pytest.fail.Exception, match="no dockerd"):
        refuse("no dockerd", {"CI": "yes"})


@pytest.mark.parametrize(
    ("listing", "found"),
    [
        (
            "http://a/deb bookworm bookworm main\nhttp://a/deb bookworm-updates bookworm-updates main",
            [Source("http://a/deb", "bookworm"), Source("http://a/deb", "bookworm-updates")],
        ),
        ("http://a/debian/ oldstable bookworm main\n", [Source("http://a/debian/", "bookworm")]),
        ("http://docker/ bookworm  stable\nhttp://a/debian/ bookworm bookworm contrib\n", []),
        ("http://a/debian/ trixie trixie main\n", []),
    ],
    ids=["by name", "by its state", "not Debian's main", "another suite"],
)
def test_a_bases_packages_come_from_the_machines_own_sources(listing: str, found: list[Source]) -> None:
    assert sources_of(listing, "bookworm") == found


#: In a container of the base: the script, twice, and what it left.
INSTALL = """
set -eu
mkdir -p /checkout/ci
cp /ci/docker-engine /checkout/ci
printf '#!/bin/sh\\n# ours\\nexit 0\\n' >/usr/sbin/policy-rc.d
/checkout/ci/docker-engine
/checkout/ci/docker-engine
dockerd --version
docker buildx version
grep ours /usr/sbin/policy-rc.d
cat /proc/[0-9]*/comm
apt-get -s dist-upgrade | grep trixie || echo nothing else of trixie
"""


@pytest.mark.docker
@pytest.mark.xdist_group("docker")
def test_it_is_installed_where_nothing_was(engine: Engine, base: str) -> None:
    options = ["--network=host", f"--volume={ROOT}/ci:/ci:ro"]
    said = engine.run(base, "sh", "-c", INSTALL, options=options).stdout
    assert "Docker version 2" in said
    assert "github.com/docker/buildx" in said
    assert "# ours" in said
    assert "nothing else of trixie" in said
    assert "dockerd" not in said.split()


@pytest.mark.docker
@pytest.mark.xdist_group("docker")
@pytest.mark.parametrize(
    ("options", "before", "line"),
    [
        ([], "", "docker-engine: apt-get install: W: Failed to fetch "),
        (["--user=1000"], "", "docker-engine: packages are installed by root only; type: sudo "),
        (
            [],
            ">/etc/apt/sources.list",
            "docker-engine: no sources of Debian 12 (bookworm main) in /etc/apt; add",
        ),
        (
            [],
            "echo ID=other >/etc/os-release",
            "docker-engine: other- is not Debian; install by hand: dockerd",
        ),
        ([], "rm /usr/bin/apt-get", "docker-engine: no apt-get; install by hand: dockerd 23 or later"),
    ],
    ids=["no network", "not root", "no sources", "not Debian", "no apt"],
)
def test_what_hinders_it_is_one_line(
    options: list[str], before: str, line: str, engine: Engine, base: str
) -> None:
    assert base_name() == base
    options = [*options, "--network=none", f"--volume={ROOT}/ci:/ci:ro"]
    ended = engine.run(base, "sh", "-c", f"{before}\n/ci/docker-engine", options=options, check=False)
    assert ended.returncode == 4
    (said,) = ended.stderr.splitlines()
    assert said.startswith(line)
