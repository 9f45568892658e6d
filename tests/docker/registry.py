"""A registry on the loopback interface that has one image, under every name: pulled from by digest.

It answers what the engine asks: https://distribution.github.io/distribution/spec/api/, of images that
`docker save` has written (https://github.com/opencontainers/image-spec/blob/main/image-layout.md).
"""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from engine import Engine
from index import running

_PATH = re.compile(r"/v2/(?P<name>.+)/(?P<kind>manifests|blobs)/(?P<reference>[^/]+)")


@dataclass(frozen=True)
class Registry:
    """Where it listens, and what it has."""

    address: str
    digest: str
    """Of the image's manifest."""


@contextmanager
def serving(engine: Engine, image: str, folder: Path) -> Iterator[Registry]:
    """Serve an image of the engine's; `folder` is a new one for its layers."""
    folder.mkdir()
    saved = folder / "image.tar"
    engine.docker("save", "--output", saved, image)
    subprocess.run(["tar", "--extract", "--file", saved, "--directory", folder], check=True)
    saved.unlink()
    (manifest,) = json.loads((folder / "index.json").read_bytes())["manifests"]
    blobs = folder / "blobs" / "sha256"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer(body=True)

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def answer(self, *, body: bool) -> None:
            if self.path == "/v2/":
                self.send(200, b"{}", "application/json", body=body)
                return
            asked = _PATH.fullmatch(self.path)
            reference = asked["reference"] if asked else ""
            if asked and asked["kind"] == "manifests" and not reference.startswith("sha256:"):
                reference = manifest["digest"]
            blob = blobs / reference.removeprefix("sha256:")
            if asked is None or not blob.is_file():
                self.send(404, b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}', "application/json", body=body)
                return
            kind = manifest["mediaType"] if asked["kind"] == "manifests" else "application/octet-stream"
            self.send(200, blob.read_bytes(), kind, body=body, digest=f"sha256:{blob.name}")

        def send(self, code: int, data: bytes, kind: str, *, body: bool, digest: str = "") -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            if digest:
                self.send_header("Docker-Content-Digest", digest)
            self.end_headers()
            if body:
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with running(server):
        yield Registry(f"127.0.0.1:{server.server_port}", manifest["digest"])
