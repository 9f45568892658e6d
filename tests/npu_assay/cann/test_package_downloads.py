"""Run packages from a server: whole or not at all, kept, and fetched once."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from stand_in_packages import ALL, Vendor

from npu_assay.cann.run_packages.sources import Checked, Sources
from npu_assay.errors import UnusableError, UsageError

NAME = ALL[0].file


@dataclass
class Server:
    """What a loopback server has, and was asked for."""

    files: dict[str, bytes] = field(default_factory=dict)
    cut: int = 0
    """How many bytes are missing at the end of what it sends."""
    asked: list[str] = field(default_factory=list)
    address: str = ""


class Handler(BaseHTTPRequestHandler):
    """Refuses, as the vendor's server, a request without its Referer."""

    def __init__(self, server: Server, *arguments: object) -> None:
        self.what = server
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.what.asked.append(self.path)
        data = self.what.files.get(self.path)
        if "hiascend" not in self.headers.get("Referer", ""):
            self.send_error(403)
        elif data is None:
            self.send_error(404)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) - self.what.cut])

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def vendor(tmp_path: Path) -> Vendor:
    vendor = Vendor(tmp_path / "packages", tmp_path / "Ascend")
    vendor.write()
    return vendor


@pytest.fixture
def server(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Has the packages in a folder with a space in its name."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server({f"/CANN%209.0.0/{p.file}": (vendor.folder / p.file).read_bytes() for p in ALL})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, server)) as http:
        server.address = f"http://127.0.0.1:{http.server_port}/CANN%209.0.0/"
        thread = threading.Thread(target=http.serve_forever, args=(0.05,))
        thread.start()
        yield server
        http.shutdown()
        thread.join()


def get(vendor: Vendor, address: str, told: list[str] | None = None) -> Checked:
    sources = Sources.of([address], vendor.folder / "downloads")
    wanted = vendor.wanted()
    sources.require(wanted.packages[0], wanted)
    return sources.checked(wanted.packages[0], wanted, [].append if told is None else told.append)


def test_a_package_is_fetched_checked_kept_and_not_fetched_again(vendor: Vendor, server: Server) -> None:
    told: list[str] = []
    path = get(vendor, server.address, told).path
    assert path == vendor.folder / "downloads" / NAME
    assert path.read_bytes() == (vendor.folder / NAME).read_bytes()
    assert told == [f"downloading {server.address}{NAME}, 0 MiB", f"checking {path}"]
    assert [file.name for file in path.parent.iterdir()] == [NAME]
    get(vendor, server.address)
    assert server.asked == [f"/CANN%209.0.0/{NAME}"]


def test_what_is_there_needs_no_server(vendor: Vendor, server: Server) -> None:
    gone = "http://127.0.0.1:9/CANN"
    get(vendor, server.address)
    get(vendor, gone)
    sources = replace(vendor.sources, addresses=(gone,))
    assert (
        sources.checked(vendor.wanted().packages[0], vendor.wanted(), [].append).path.parent == vendor.folder
    )


def test_what_is_cut_on_its_way_is_not_kept(vendor: Vendor, server: Server) -> None:
    server.cut = 5
    with pytest.raises(UnusableError, match=r"the server ended after \d+ of \d+ bytes"):
        get(vendor, server.address)
    assert list((vendor.folder / "downloads").iterdir()) == []
    server.cut = 0
    get(vendor, server.address)


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ("CANN%209.0.0", None),
        ("CANN%209.9.9", f"can't download http://127.0.0.1:[0-9]+/CANN%209.9.9/{NAME}: the server says 404"),
    ],
)
def test_a_server_that_has_it_not_is_told(
    vendor: Vendor, server: Server, there: str, says: str | None
) -> None:
    address = server.address.replace("CANN%209.0.0", there)
    if says is None:
        get(vendor, address)
    else:
        with pytest.raises(UnusableError, match=says):
            get(vendor, address)


def test_a_server_that_is_not_there_is_told_without_the_password(vendor: Vendor, server: Server) -> None:
    get(vendor, server.address)
    (vendor.folder / "downloads" / NAME).unlink()
    with pytest.raises(UnusableError, match=f"can't download http://127.0.0.1:9/x/{NAME}: ") as raised:
        get(vendor, "http://me:secret@127.0.0.1:9/x")
    assert "secret" not in str(raised.value)


def test_another_file_under_that_name_is_refused_and_named(vendor: Vendor, server: Server) -> None:
    get(vendor, server.address)
    (vendor.folder / "downloads" / NAME).unlink()
    server.files[f"/CANN%209.0.0/{NAME}"] = b"<html>sign in</html>"
    with pytest.raises(UsageError, match=rf"downloads/{NAME}: no run package: it begins with '<html>"):
        get(vendor, server.address)


def test_a_path_that_is_not_there_is_refused(vendor: Vendor) -> None:
    Sources.of([str(vendor.folder)], vendor.folder)
    with pytest.raises(UsageError, match=r"--from /gone: no such file or folder"):
        Sources.of([str(vendor.folder), "/gone"], vendor.folder)


def test_single_files_will_do_and_without_any_it_is_asked_for(vendor: Vendor) -> None:
    wanted = vendor.wanted()
    single = Sources.of([str(vendor.folder / NAME)], vendor.folder / "downloads")
    assert single.checked(wanted.packages[0], wanted, [].append).path == vendor.folder / NAME
    with pytest.raises(UsageError, match=f"ops: {ALL[1].file} is not in .*; there is {NAME}"):
        single.require(wanted.packages[1], wanted)
    with pytest.raises(UsageError, match="say where it is: --from DIR, --from FILE or --from URL"):
        replace(single, paths=()).require(wanted.packages[0], wanted)
