"""Source distributions and wheels are unpacked whole, and hostile or damaged ones are one line."""

import stat
import tarfile
import zipfile

import pytest
from planted_source import FILES, METADATA, SDIST, WHEEL, add, files_below, sdist, wheel

from npu_assay.digest import sha256_of
from npu_assay.errors import UsageError
from npu_assay.source import writer
from npu_assay.source.distribution import export_sdist, export_wheel

TOP = "vllm_ascend-0.18.0"


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "deep" / "er" / "out"
    folder.mkdir(parents=True)
    return folder


def test_a_source_distribution(tmp_path, out):
    path = sdist(tmp_path / SDIST)
    origin = export_sdist(path, out)
    assert files_below(out) == FILES | {"PKG-INFO": METADATA}
    assert (out / "csrc/build.sh").stat().st_mode & 0o777 == 0o755
    assert (out / "setup.py").stat().st_mode & 0o777 == 0o644
    assert (origin.kind, origin.sha256) == ("sdist", sha256_of(path))


def test_a_wheel(tmp_path, out):
    path = wheel(tmp_path / WHEEL)
    origin = export_wheel(path, out)
    assert set(files_below(out)) == {
        "vllm_ascend-0.18.0.dist-info/METADATA",
        "vllm_ascend/__init__.py",
        "vllm_ascend/handler.py",
    }
    assert (origin.kind, origin.sha256) == ("wheel", sha256_of(path))


def test_links_inside_stay_links(tmp_path, out):
    with tarfile.open(sdist(tmp_path / SDIST).with_name("l.tar.gz"), "w:gz") as archive:
        add(archive, f"{TOP}/vllm_ascend/a.py", "a")
        add(archive, f"{TOP}/b.py", type=tarfile.SYMTYPE, linkname="vllm_ascend/a.py")
    export_sdist(tmp_path / "l.tar.gz", out)
    assert (out / "b.py").readlink().as_posix() == "vllm_ascend/a.py"


@pytest.mark.parametrize(
    ("name", "facts", "says"),
    [
        (f"{TOP}/../../evil", {}, "../../evil: climbs out of the tree"),
        ("evil.py", {}, "evil.py: outside of the one folder"),
        (TOP, {}, f"{TOP}: outside of the one folder"),
        ("../evil", {}, "../evil: outside of the one folder that it should have"),
        ("/evil", {}, "/evil: outside of the one folder"),
        ("other/evil", {}, "other/evil: outside of the one folder"),
        (f"{TOP}//evil", {}, "/evil: climbs out of the tree"),
        (f"{TOP}/./evil", {}, "./evil: climbs out of the tree"),
        (f"{TOP}/.git/config", {}, ".git/config: git's own folder"),
        (f"{TOP}/a/.GIT/config", {}, "a/.GIT/config: git's own folder"),
        (f"{TOP}/setup.py", {}, "setup.py: stands in it twice"),
        (f"{TOP}/setup.py/evil", {}, "setup.py/evil: is below a file"),
        (f"{TOP}/csrc", {}, "csrc: is a folder, too"),
        (f"{TOP}/inside/evil", {}, "inside/evil: is below a link"),
        (f"{TOP}/out", {"type": tarfile.SYMTYPE, "linkname": "../../.."}, "out: a link to ../../.., outside"),
        (f"{TOP}/out", {"type": tarfile.SYMTYPE, "linkname": "/etc"}, "out: a link to /etc, outside"),
        (f"{TOP}/hard", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"}, "a hard link, device or pipe"),
        (
            f"{TOP}/null",
            {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3},
            "a hard link, device or pipe",
        ),
        (f"{TOP}/pipe", {"type": tarfile.FIFOTYPE}, "a hard link, device or pipe"),
        (f"{TOP}/new\nline\x1b[31m/../x", {}, "new\\nline\\x1b[31m/../x: climbs"),
    ],
)
def test_a_hostile_source_distribution_is_refused(tmp_path, out, name, facts, says):
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as archive:
        add(archive, f"{TOP}/setup.py", "x")
        add(archive, f"{TOP}/csrc/a.cpp", "x")
        add(archive, f"{TOP}/inside", type=tarfile.SYMTYPE, linkname="csrc")
        archive_end = archive.offset
        add(archive, name, "" if facts else "evil", **facts)
    assert archive_end
    with pytest.raises(UsageError) as error:
        export_sdist(tmp_path / "evil.tar.gz", out)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert set(tmp_path.rglob("*evil*")) == {tmp_path / "evil.tar.gz"}


@pytest.mark.parametrize(
    ("name", "mode", "says"),
    [
        ("../evil", 0, "../evil: climbs out of the tree"),
        ("/evil", 0, "/evil: climbs out of the tree"),
        ("vllm_ascend/handler.py", 0, "vllm_ascend/handler.py: stands in it twice"),
        ("vllm_ascend/.git/hooks/x", 0, "git's own folder"),
        ("vllm_ascend/link", stat.S_IFLNK | 0o777, "vllm_ascend/link: a link or device"),
        ("vllm_ascend/device", stat.S_IFCHR | 0o600, "vllm_ascend/device: a link or device"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_hostile_wheel_is_refused(tmp_path, out, name, mode, says):
    path = wheel(tmp_path / WHEEL)
    export_wheel(path, out)
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd")
    (tmp_path / "second").mkdir()
    with pytest.raises(UsageError) as error:
        export_wheel(path, tmp_path / "second")
    assert says in str(error.value)
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.parametrize("limit", ["MAX_BYTES", "MAX_FILES"])
def test_what_is_far_too_large_is_refused_before_it_fills_the_disk(tmp_path, out, monkeypatch, limit):
    path = sdist(tmp_path / SDIST)
    export_sdist(path, out)
    monkeypatch.setattr(writer, limit, 3)
    (tmp_path / "second").mkdir()
    with pytest.raises(UsageError, match="is that vllm-ascend"):
        export_sdist(path, tmp_path / "second")


@pytest.mark.parametrize("kind", ["cut", "no archive", "empty", "flipped"])
@pytest.mark.parametrize(
    ("name", "make", "export"), [(SDIST, sdist, export_sdist), (WHEEL, wheel, export_wheel)]
)
def test_a_damaged_file_is_one_line(tmp_path, out, name, make, export, kind):
    path = make(tmp_path / name)
    export(path, out)
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "cut": data[:middle],
            "no archive": b"<html>404</html>",
            "empty": b"",
            "flipped": data[:40] + bytes(byte ^ 0xFF for byte in data[40:60]) + data[60:],
        }[kind]
    )
    (tmp_path / "second").mkdir()
    with pytest.raises(UsageError) as error:
        export(path, tmp_path / "second")
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
