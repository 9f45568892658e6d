"""Docker as the tests use it: a client, a daemon's address, and the images of a checkout's bake file."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from npu_assay.project import ROOT

#: BuildKit in docker.io 20.10, Debian 12's, knows no `docker buildx bake` and no contexts.
OLDEST = 23
#: Where programs are, the distribution's own before what a user has put before them.
PATH = f"/usr/sbin:/usr/bin:/sbin:/bin:{os.environ.get('PATH', '')}"
#: The first part of the names of what these tests build.
NAME = "npu-assay-tests"
INSTALL = "ci/docker-engine installs it"
#: What docker and buildx take from the caller's variables.
_DOCKERS_OWN = re.compile(r"(DOCKER|BUILDX|BUILDKIT|COMPOSE)_\w+")
#: Predefined build arguments: RUN has them, the image does not.
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@dataclass(frozen=True)
class Build:
    """One call of `docker buildx bake`."""

    image: str
    """The image's id, which names it whatever else is tagged; empty when the build failed."""
    log: str
    """What BuildKit printed with --progress=plain."""
    returncode: int


@dataclass(frozen=True)
class Engine:
    """A daemon and the client to talk to it."""

    host: str
    """The value of DOCKER_HOST."""
    client: str
    """A docker that has buildx."""
    config: Path
    """Its folder of settings, empty: not the caller's registries, proxies and contexts."""

    def docker(
        self,
        *args: str | Path,
        check: bool = True,
        timeout: float | None = None,
        env: Mapping[str, str] = {},
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run docker with these arguments. With `check`, another exit code than 0 is an AssertionError."""
        ended = subprocess.run(
            [self.client, *map(str, args)],
            env={**self.variables(), **env},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
        assert not check or ended.returncode == 0, f"docker {args[0]}: exit code {ended.returncode}\n" + _end(
            ended.stdout + ended.stderr
        )
        return ended

    def variables(self) -> dict[str, str]:
        """The caller's, but for docker's own."""
        kept = {name: value for name, value in os.environ.items() if not _DOCKERS_OWN.fullmatch(name)}
        return {**kept, "DOCKER_HOST": self.host, "DOCKER_CONFIG": str(self.config)}

    def run(
        self,
        image: str,
        *args: str | Path,
        options: Sequence[str | Path] = (),
        check: bool = True,
        timeout: float | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """`docker run --rm OPTIONS IMAGE ARGS`; it has no network, if the options don't say otherwise."""
        if not any(str(option).startswith("--network") for option in options):
            options = ["--network", "none", *options]
        return self.docker("run", "--rm", *options, image, *args, check=check, timeout=timeout)

    def bake(
        self,
        target: str,
        variables: Mapping[str, str] = {},
        sets: Sequence[str] = (),
        checkout: Path = ROOT,
        network: str = "host",
    ) -> Build:
        """Build a target of the checkout's bake file.

        `variables` are the bake file's; `sets` is what follows --set, such as `*.args.X=Y` or
        `*.contexts.NAME=FOLDER`. `network` of RUN: "host" or "none", as the engine has no other; each has its
        own cached layers. The machine's certificates, index and proxies are given, if `variables` don't say
        otherwise. A build that failed is no exception.
        """
        with tempfile.TemporaryDirectory() as folder:
            metadata = Path(folder, "metadata.json")
            command = ["buildx", "bake", "--file", "docker/docker-bake.hcl"]
            command += self.bake_options(target, Path(folder), network)
            command += ["--progress=plain", "--metadata-file", str(metadata)]
            command += [f"--set={one}" for one in sets]
            settings = {"NAME": NAME, **machine_variables(), **variables}
            ended = self.docker(*command, target, check=False, env=settings, cwd=checkout)
            image = ""
            if ended.returncode == 0:
                image = json.loads(metadata.read_bytes())[target]["containerimage.config.digest"]
        return Build(image, ended.stderr, ended.returncode)

    def bake_options(self, target: str, folder: Path, network: str) -> list[str]:
        """What bake is told of this engine's networks and the machine's proxies; a file of it in `folder`."""
        # buildx 0.13 has no --set for the network, and bake's own files none either: compose files do.
        build = {"context": ".", "dockerfile": "docker/Dockerfile", "network": network}
        service = folder / "network.yaml"
        service.write_text(json.dumps({"services": {target: {"build": build}}}))
        options = ["--file", str(service)]
        if network == "host" and "--allow" in self.docker("buildx", "bake", "--help").stdout:
            options += ["--allow", "network.host"]  # which later ones ask for
        return [*options, *(f"--set=*.args.{name}={value}" for name, value in _proxies().items())]


def _end(text: str, lines: int = 60) -> str:
    return "\n".join(text.splitlines()[-lines:])


def machine_variables() -> dict[str, str]:
    """The bake file's variables that say where this machine gets things from, of pip's own variables."""
    found = {
        name: os.environ[name] for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL") if name in os.environ
    }
    for name in ("CA_CERTIFICATES", "PIP_CERT", "SSL_CERT_FILE"):
        if Path(os.environ.get(name, "")).is_file():
            return {**found, "CA_CERTIFICATES": os.environ[name]}
    return found


def _proxies() -> dict[str, str]:
    found = {name: os.environ.get(name) or os.environ.get(name.lower()) for name in _PROXIES}
    return {name: value for name, value in found.items() if value}


def find_client(config: Path, path: str = PATH) -> str | None:
    """The first docker on `path` that has buildx: there are old clients that have none."""
    for folder in path.split(":"):
        client = Path(folder, "docker")
        if client.exists():
            asked = [str(client), "--config", str(config), "buildx", "version"]
            if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
                return str(client)
    return None


def refuse(reason: str, variables: Mapping[str, str] = os.environ) -> NoReturn:
    """Skip the test; where continuous integration runs it, what can't be tested is a failure."""
    if variables.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def missing(path: str = PATH) -> str | None:
    """What this machine lacks for an engine of the tests' own, in one line; None when it has all."""
    if os.geteuid() != 0:
        return "an engine is started by root only"
    for program in ("dockerd", "containerd", "runc", "debootstrap", "ip", "openssl", "setpriv", "unshare"):
        if shutil.which(program, path=path) is None:
            return f"no {program}: {INSTALL}"
    dockerd = [shutil.which("dockerd", path=path) or "", "--version"]
    said = subprocess.run(dockerd, capture_output=True, text=True, check=False).stdout
    version = re.search(r"version (\d+)\.", said)
    if version is None or int(version[1]) < OLDEST:
        return f"dockerd is too old, expected {OLDEST} or later ({said.strip()}); Debian 12's is: {INSTALL}"
    with tempfile.TemporaryDirectory() as config:
        if find_client(Path(config), path) is None:
            return f"no docker that has buildx: {INSTALL}"
    return None
