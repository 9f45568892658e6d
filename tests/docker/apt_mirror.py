"""A mirror of Debian with tiny stand-ins of packages, on the loopback interface."""

import hashlib
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from index import running


@dataclass
class Mirror:
    """Where it is, and the paths that it was asked for."""

    url: str
    asked: list[str] = field(default_factory=list)

    def sources(self, file: Path, *, stanzas: bool) -> Path:
        """Write apt's sources, in either of its formats; the stand-ins have no signature."""
        file.write_text(
            f"Types: deb\nURIs: {self.url}\nSuites: ./\nTrusted: yes\n"
            if stanzas
            else f"deb [trusted=yes] {self.url} ./\n"
        )
        return file


@contextmanager
def mirroring(
    folder: Path, packages: Sequence[str], context: ssl.SSLContext | None = None
) -> Iterator[Mirror]:
    """Make the packages in `folder`, and serve them as a flat repository; with TLS, given a context."""
    stanzas = [_package(folder, name) for name in packages]
    (folder / "Packages").write_text("\n".join(stanzas))
    sha256, size = _digest(folder / "Packages")
    (folder / "Release").write_text(f"Suite: tests\nSHA256:\n {sha256} {size} Packages\n")

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            mirror.asked.append(self.path)
            super().do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    mirror = Mirror(f"http{'s' if context else ''}://127.0.0.1:{server.server_port}/")
    with running(server):
        yield mirror


def _package(folder: Path, name: str) -> str:
    """Make NAME.deb, which has nothing in it; its stanza of Packages."""
    control = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: tests\nDescription: a stand-in\n"
    tree = folder / name
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(control)
    deb = folder / f"{name}.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, deb], check=True, capture_output=True)
    sha256, size = _digest(deb)
    return f"{control}Filename: ./{deb.name}\nSize: {size}\nSHA256: {sha256}\n"


def _digest(path: Path) -> tuple[str, int]:
    data = path.read_bytes()
    return hashlib.sha256(data).hexdigest(), len(data)
