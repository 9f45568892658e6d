"""What emulated images are made from, without a registry: Debian by debootstrap, under its real name."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engine import Engine

from npu_assay.cache import content_key
from npu_assay.project import ROOT

#: On an image that is ours, with the key of what it was made from.
LABEL = "npu-assay.tests.base"


@dataclass(frozen=True)
class Source:
    """A part of the machine's own package sources."""

    uri: str
    suite: str


def base_name() -> str:
    """What the bake file says that images start from: Docker's Debian, debian:SUITE-slim."""
    text = (ROOT / "docker" / "docker-bake.hcl").read_text()
    (name,) = re.findall(r'^variable "BASE" \{ default = "(debian:\w+-slim)" \}$', text, re.MULTILINE)
    return str(name)


def sources_of(listing: str, suite: str) -> list[Source]:
    """The sources of a suite and its updates.

    `listing` has lines `URI RELEASE CODENAME COMPONENT`, of apt-get indextargets. The suite itself is first.
    Empty where the machine takes packages from elsewhere.
    """
    wanted = (suite, f"{suite}-updates", f"{suite}-security")
    found = set()
    for line in listing.splitlines():
        uri, release, codename, component = (*line.split(), "", "", "")[:4]
        for name in {release, codename}.intersection(wanted):
            if component == "main":
                found.add(Source(uri, name))
    return sorted(found, key=lambda source: (wanted.index(source.suite), source.uri))


def make_base(engine: Engine) -> str:
    """Make it if it is not there; returns its name."""
    name = base_name()
    suite = name.removeprefix("debian:").removesuffix("-slim")
    form = "$(REPO_URI) $(RELEASE) $(CODENAME) $(COMPONENT)"
    sources = sources_of(_said("apt-get", "indextargets", "--format", form, "Created-By: Packages"), suite)
    assert sources, f"this machine's apt has no sources of {suite}; add them to make {name} from"
    proxies = re.findall(r'^Acquire::https?::Proxy "[^"]*";$', _said("apt-config", "dump"), re.MULTILINE)
    key = content_key([*map(str, sources), *proxies])
    asked = engine.docker(
        "image", "inspect", "--format", f'{{{{index .Config.Labels "{LABEL}"}}}}', name, check=False
    )
    if asked.returncode == 0 and asked.stdout.strip() in (key, ""):
        return name
    with tempfile.TemporaryDirectory(prefix="npu-assay-base-") as folder:
        root = Path(folder, "root")
        _said("debootstrap", "--variant=minbase", suite, str(root), sources[0].uri)
        lines = [f"deb {source.uri} {source.suite} main\n" for source in sources]
        (root / "etc/apt/sources.list").write_text("".join(lines))
        (root / "etc/apt/apt.conf.d/90proxies").write_text("".join(f"{line}\n" for line in proxies))
        for left in (*root.glob("var/cache/apt/archives/*.deb"), *root.glob("var/lib/apt/lists/*_*")):
            left.unlink()
        tar = Path(folder, "root.tar")
        _said("tar", "--directory", str(root), "--create", "--file", str(tar), "--numeric-owner", ".")
        changes = ["--change", 'CMD ["bash"]', "--change", f"LABEL {LABEL}={key}"]
        engine.docker("import", *changes, tar, name)
    return name


def _said(*command: str) -> str:
    """Run it; what it printed. An AssertionError with the end of that when it fails."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{command[0]}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}"
    return ended.stdout
