"""A package index on the loopback interface, with tiny distributions, for tests of what pip is made to do."""

import base64
import gzip
import hashlib
import io
import re
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer


def wheel(name: str, version: str, tag: str = "py3-none-any", content: str = "") -> tuple[str, bytes]:
    """File name and bytes of a wheel with one module."""
    module = name.replace("-", "_")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in {
            f"{module}/__init__.py": content,
            f"{module}-{version}.dist-info/METADATA": _metadata(name, version),
            f"{module}-{version}.dist-info/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
            f"{module}-{version}.dist-info/RECORD": "",
        }.items():
            archive.writestr(zipfile.ZipInfo(path), text)  # a ZipInfo's time is fixed
    return f"{module}-{version}-{tag}.whl", data.getvalue()


def sdist(name: str, version: str) -> tuple[str, bytes]:
    """File name and bytes of a source distribution whose build fails if anything of it is run."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path, text in {
            "PKG-INFO": _metadata(name, version),
            "pyproject.toml": '[build-system]\nrequires = ["not-on-any-index == 99"]\n'
            'build-backend = "setuptools.build_meta"\n',
            "setup.py": 'raise SystemExit("a fetch must not run this")\n',
        }.items():
            info = tarfile.TarInfo(f"{name}-{version}/{path}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return f"{name}-{version}.tar.gz", gzip.compress(data.getvalue(), mtime=0)


def _metadata(name: str, version: str) -> str:
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"


def sha256(data: bytes) -> str:
    """As locks write it."""
    return hashlib.sha256(data).hexdigest()


@dataclass
class Index:
    """What is served: file name -> bytes; and the paths that were asked for."""

    url: str
    files: dict[str, bytes]
    asked: list[str] = field(default_factory=list)

    def downloads(self) -> list[str]:
        """The files that were downloaded, sorted, each as often as it was."""
        return sorted(path.removeprefix("/files/") for path in self.asked if path.startswith("/files/"))


@contextmanager
def serving(
    files: dict[str, bytes], context: ssl.SSLContext | None = None, account: str | None = None
) -> Iterator[Index]:
    """Serve files as a simple index (PEP 503) at `url`: with TLS, and to `account` (name:password) alone."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    index = Index(f"http{'s' if context else ''}://127.0.0.1:{server.server_port}/simple", files)
    allowed = account and f"Basic {base64.b64encode(account.encode()).decode()}"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if allowed and self.headers["Authorization"] != allowed:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="index"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            index.asked.append(self.path)
            body = _page(index.files, self.path)
            self.send_response(404 if body is None else 200)
            self.send_header(
                "Content-Type", "text/html" if "/simple/" in self.path else "application/octet-stream"
            )
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server.RequestHandlerClass = Handler
    with running(server):
        yield index


@contextmanager
def running(server: HTTPServer) -> Iterator[None]:
    """Have the server answer, in a thread."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _page(files: dict[str, bytes], path: str) -> bytes | None:
    if path.startswith("/files/"):
        return files.get(path.removeprefix("/files/"))
    project = path.strip("/").removeprefix("simple/")
    links = "".join(
        f'<a href="/files/{name}#sha256={sha256(data)}">{name}</a>\n'
        for name, data in files.items()
        if re.split(r"-\d", name)[0].replace("_", "-") == project
    )
    return f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
