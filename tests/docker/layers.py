"""What is in the layers of an image: every file of each, also of those that a later layer removes."""

import re
import subprocess
import tarfile
from collections.abc import Iterator
from typing import IO

from engine import Engine

#: A line of every secret of these builds.
SECRET = "npu-assay-tests: nobody may find this line in an image"

#: What only the building of an image needs. Names without a leading slash.
LEFT_OVERS = {
    "a package": re.compile(r".*\.(deb|whl)"),
    "apt's lists": re.compile(r"var/lib/apt/lists/.+"),
    "apt's cache": re.compile(r"var/cache/apt/.+"),
    "pip's cache": re.compile(r"var/cache/pip/.+|(.*/)?\.cache/pip/.+"),
    "pip's configuration": re.compile(r"(.*/)?\.?pip\.conf|(.*/)?\.?pypirc|(.*/)?\.netrc"),
}
#: The wheels that Debian's python3-venv makes every venv from.
NOT_LEFT_OVER = re.compile(r"usr/share/python-wheels/.+\.whl")

_CHUNK = 1 << 20


def left_overs(engine: Engine, image: str, base: str) -> list[str]:
    """What should not be in the image, a line each; what its base has is the base's affair."""
    command = [engine.client, "save", image]
    theirs = set(
        engine.docker("image", "inspect", "--format", "{{json .RootFS.Layers}}", base).stdout.split('"')
    )
    found: list[str] = []
    with subprocess.Popen(command, env=engine.variables(), stdout=subprocess.PIPE) as saved:
        assert saved.stdout is not None
        with tarfile.open(fileobj=saved.stdout, mode="r|") as outer:
            for member in outer:
                data = outer.extractfile(member) if member.isfile() else None
                if data is None or f"sha256:{member.name.rpartition('/')[2]}" in theirs:
                    continue
                found += _in_member(member.name, data)
    assert saved.returncode == 0
    return found


def _in_member(name: str, data: IO[bytes]) -> Iterator[str]:
    """Look into a layer, or into a JSON file that describes the image."""
    head = data.read(_CHUNK)
    if head.startswith(b"{") or head.startswith(b"["):
        text = head + data.read()
        if SECRET.encode() in text:
            yield f"{name}: a secret"
        return
    with tarfile.open(fileobj=_Again(head, data), mode="r|") as layer:
        for member in layer:
            if not member.isfile():
                continue
            path = member.name.removeprefix("./")
            if member.size and not NOT_LEFT_OVER.fullmatch(path):
                yield from (f"{path}: {what}" for what, name in LEFT_OVERS.items() if name.fullmatch(path))
            content = layer.extractfile(member)
            if content is not None and _has(content, SECRET.encode()):
                yield f"{path}: a secret"


class _Again:
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self.head = head
        self.rest = rest

    def read(self, size: int) -> bytes:
        taken, self.head = self.head[:size], self.head[size:]
        return taken + self.rest.read(size - len(taken)) if len(taken) < size else taken


def _has(content: IO[bytes], what: bytes) -> bool:
    before = b""
    while chunk := content.read(_CHUNK):
        if what in before + chunk:
            return True
        before = chunk[-len(what) :]
    return False
