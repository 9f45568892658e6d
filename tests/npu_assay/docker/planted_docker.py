"""A script that plays docker for a build: it answers as Docker 26 does, from files beside it."""

import io
import json
import os
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

ID = f"sha256:{'a' * 64}"
BASE_ID = f"sha256:{'b' * 64}"

SCRIPT = """#!/bin/sh
here=$(dirname "$0")
echo "$*" >>"$here/calls"
case "$1 $2" in
'version --format') echo 26.1.5 ;;
'buildx version') echo github.com/docker/buildx 0.13.1 0.13.1-3 ;;
'buildx bake')
    case " $* " in
    *' --print '*) cat "$here/plan.json"; exit ;;
    esac
    env -0 >"$here/variables"
    cat "$here/log"
    while [ "$1" != --metadata-file ]; do shift; done
    cp "$here/metadata.json" "$2"
    exit "$(cat "$here/code")" ;;
'image inspect') cat "$here/inspected-$3.json" 2>/dev/null || { echo "No such image: $3" >&2; exit 1; } ;;
'history --human=false') cat "$here/history" ;;
'container create') echo container ;;
'container cp')
    path=${4#container:}
    cat "$here/files$path.tar" 2>/dev/null ||
        { echo "Error response from daemon: Could not find the file $path in container x" >&2; exit 1; } ;;
'container rm') ;;
*) echo "unknown: $*" >&2; exit 125 ;;
esac
"""
LOG = """\
#7 [launcher 1/1] COPY assay pyproject.toml requirements.txt ./
#7 DONE 0.3s
#35 exporting to image
#35 DONE 5.7s
"""
STATUS = """\
Package: zlib1g
Status: install ok installed
Architecture: amd64
Version: 1:1.2.13.dfsg-1
Description: compression library
 A sentence: with a colon.

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: adduser
Status: install ok installed
Architecture: all
Version: 3.134
"""
OS_RELEASE = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n'


class PlantedDocker:
    """Its folder, which has to come first on PATH."""

    def __init__(self, folder: Path, target: str, image_json: str) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "docker").write_text(SCRIPT)
        (folder / "docker").chmod(0o755)
        self.answers("log", LOG)
        self.answers("code", "0")
        self.metadata = {"containerimage.config.digest": ID, "containerimage.digest": ID}
        self.answers("metadata.json", json.dumps({target: self.metadata}))
        plan = {
            "args": {"BASE": "debian:bookworm-slim", "IMAGE": "runtime", "REVISION": ""},
            "tags": [f"npu-assay:{target}"],
        }
        self.answers("plan.json", json.dumps({"target": {target: plan}}))
        self.inspected(ID, ID)
        self.inspected("debian:bookworm-slim", BASE_ID)
        history = {"CreatedBy": "COPY assay pyproject.toml requirements.txt ./ # buildkit", "Size": "37700"}
        base = {"CreatedBy": "", "Size": "199000000"}
        self.answers("history", f"{json.dumps(history)}\n{json.dumps(base)}\n")
        self.file("/opt/npu-assay/image.json", {"image.json": image_json})
        self.file("/etc/os-release", {"os-release": OS_RELEASE})
        self.file("/var/lib/dpkg/status", {"status": STATUS})

    def answers(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def inspected(self, name: str, identity: str, *digests: str) -> None:
        self.answers(f"inspected-{name}.json", json.dumps([{"Id": identity, "RepoDigests": digests}]))

    def file(self, path: str, members: Mapping[str, str]) -> None:
        """What `docker cp` gives of that path."""
        place = self.folder / f"files{path}.tar"
        place.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(place, "w") as tar:
            for name, text in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(text.encode())
                tar.addfile(member, io.BytesIO(text.encode()))

    @property
    def calls(self) -> list[str]:
        """What it was asked, in order."""
        return (self.folder / "calls").read_text().splitlines()

    @property
    def variables(self) -> dict[str, str]:
        """Those of the last build."""
        entries = (self.folder / "variables").read_text().split("\0")
        return dict(entry.split("=", 1) for entry in entries if entry)

    @property
    def path(self) -> str:
        """For PATH: with Python, and what a shell script needs."""
        return os.pathsep.join((str(self.folder), str(Path(sys.executable).parent), os.environ["PATH"]))
