"""For servers on the loopback interface, which builds with the host's network reach."""

import select
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from index import running


@dataclass(frozen=True)
class Certificate:
    """One that signed itself: whoever is to trust it has to be given it."""

    file: Path
    key: Path

    @property
    def context(self) -> ssl.SSLContext:
        """For a server."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def make_certificate(folder: Path) -> Certificate:
    """A certificate of 127.0.0.1."""
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=tests"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(made.key), "-out", str(made.file)]
    subprocess.run(command, check=True, capture_output=True)
    return made


@dataclass
class Proxy:
    """A proxy, and the hosts and ports that it was asked for."""

    url: str
    asked: list[str] = field(default_factory=list)


@contextmanager
def proxying() -> Iterator[Proxy]:
    """A proxy for TLS (CONNECT) and for plain HTTP."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    proxy = Proxy(f"http://127.0.0.1:{server.server_port}")

    class Handler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            proxy.asked.append(self.path)
            host, _, port = self.path.rpartition(":")
            with socket.create_connection((host, int(port))) as there:
                self.send_response(200)
                self.end_headers()
                _join(self.connection, there)
            self.close_connection = True

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            proxy.asked.append(url.netloc)
            with socket.create_connection((url.hostname or "", url.port or 80)) as there:
                there.sendall(f"GET {url.path} HTTP/1.0\r\nHost: {url.netloc}\r\n\r\n".encode())
                _join(self.connection, there)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    server.RequestHandlerClass = Handler
    server.daemon_threads = True
    with running(server):
        yield proxy


def _join(one: socket.socket, other: socket.socket) -> None:
    """Pass on what either says, until one of them ends."""
    try:
        while True:
            for ready in select.select([one, other], [], [])[0]:
                data = ready.recv(1 << 16)
                if not data:
                    return
                (other if ready is one else one).sendall(data)
    except OSError:  # it has gone without saying so
        return
