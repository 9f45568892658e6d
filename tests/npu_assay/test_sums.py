import hashlib
import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npu_assay.digest import sha256_of
from npu_assay.errors import UsageError
from npu_assay.sums import parse_sums, render_sums

EMPTY = hashlib.sha256(b"").hexdigest()

#: Any bytes that Linux takes as a file's name, with the ones that GNU escapes over-represented; but not `-`,
#: which sha256sum takes for its standard input.
file_names = (
    st.binary(min_size=1, max_size=40)
    .map(lambda raw: raw.replace(b"\0", b"\\").replace(b"/", b"\n"))
    .filter(lambda raw: raw not in (b"-", b".", b".."))
    | st.text("\\\n\r nr#*ab", min_size=1, max_size=12).map(str.encode)
).map(os.fsdecode)


def coreutils(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["sha256sum", *arguments], cwd=folder, capture_output=True, check=False)


@settings(max_examples=40)
@given(names=st.sets(file_names, min_size=1, max_size=4))
@example(names={"-"})  # sha256sum's name for its standard input
def test_any_file_name_makes_the_round_trip_and_coreutils_agrees(names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    for name in names:
        (folder / name).write_bytes(os.fsencode(name))
    sums = {name: sha256_of(folder / name) for name in names}
    written = render_sums(sums)
    assert parse_sums(written, "SHA256SUMS") == sums

    listing = folder.with_name(folder.name + ".sums")
    listing.write_bytes(written)
    checked = coreutils(folder, "-c", "--strict", str(listing))
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.count(b": OK\n") == len(names)

    arguments = ["./-" if name == "-" else name for name in sorted(names, key=os.fsencode)]
    by_coreutils = coreutils(folder, "--", *arguments).stdout
    assert parse_sums(by_coreutils, "coreutils") == sums

    (folder / min(names)).write_bytes(b"changed" + os.fsencode(min(names)))
    assert coreutils(folder, "-c", str(listing)).returncode == 1


#: What sha256sum reads and a SHA256SUMS of ours must not have, by the message.
STRICTER = re.compile(r"carriage return|stands here twice|plain path inside|expected 64 hex digits")

#: Edits of a listing that accidents and tools make, beside single bytes.
ACCIDENTS = (
    lambda data: data.replace(b"\n", b"\r\n"),
    lambda data: b"\xef\xbb\xbf" + data,
    lambda data: data + data,
    lambda data: data.replace(b"  ", b" *"),
    lambda data: data.replace(b"  ", b" "),
    lambda data: b" " + data,
    lambda data: data.upper(),
    lambda data: data.replace(b"  ", b"  ./"),
    lambda data: data.rstrip(b"\n"),
    lambda data: data.replace(b"\\", b"\\\\"),
    lambda data: b"\\" + data,
    lambda data: b"# " + data,
    lambda data: data + b"\n\n",
)


@settings(max_examples=60)
@given(
    name=file_names.filter(lambda name: name != "-"),
    accidents=st.lists(st.sampled_from(ACCIDENTS), max_size=2),
    edits=st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=1), st.booleans()), max_size=2),
)
@example(name="a\\b", accidents=[], edits=[(0, b"", True)])
def test_nothing_is_taken_that_coreutils_refuses(name, accidents, edits, tmp_path_factory):
    """And what coreutils takes but we refuse, is refused for a reason that is known."""
    folder = tmp_path_factory.mktemp("edited")
    (folder / name).write_bytes(b"")
    data = render_sums({name: EMPTY, "other": EMPTY})
    (folder / "other").write_bytes(b"")
    for accident in accidents:
        data = accident(data)
    for position, byte, replaces in edits:
        data = data[:position] + byte + data[position + replaces :]
    listing = folder.with_name(folder.name + ".sums")
    listing.write_bytes(data)
    theirs = coreutils(folder, "-c", "--strict", str(listing)).returncode == 0
    sums = read(data)
    if isinstance(sums, str):
        assert not theirs or STRICTER.search(sums), (data, sums)
        return
    ours = bool(sums) and all(
        "\0" not in name and (folder / name).is_file() and sha256_of(folder / name) == sha256
        for name, sha256 in sums.items()
    )
    assert ours == theirs, data


def read(data: bytes) -> dict[str, str] | str:
    """What stands there, or why it is refused."""
    try:
        return parse_sums(data, "SHA256SUMS")
    except UsageError as error:
        return str(error)


def test_the_good_listing_of_that_test_is_taken_by_both(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "SHA256SUMS").write_bytes(render_sums({"a": EMPTY}))
    assert coreutils(tmp_path, "-c", "--strict", "SHA256SUMS").returncode == 0
    assert parse_sums((tmp_path / "SHA256SUMS").read_bytes(), "SHA256SUMS") == {"a": EMPTY}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f"{EMPTY}  plain.log\n", "plain.log"),
        (f"{EMPTY} *binary.log\n", "binary.log"),
        (f"{EMPTY}  no newline at the end", "no newline at the end"),
        (f"{EMPTY.upper()}  upper.log\n", "upper.log"),
        (f"\\{EMPTY}  back\\\\slash\\nnewline\\rreturn\n", "back\\slash\nnewline\rreturn"),
        (f"{EMPTY}  un\\escaped\n", "un\\escaped"),
        (f"# a comment, as GNU has it\n{EMPTY}  a/b.log\n", "a/b.log"),
    ],
)
def test_lines_that_gnu_reads(line, name):
    assert parse_sums(line.encode(), "SHA256SUMS") == {name: EMPTY}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (f"{EMPTY}  empty.log\r\n".encode(), "SHA256SUMS:1: the line ends in a carriage return"),
        (f"\ufeff{EMPTY}  a\n".encode(), "byte-order mark"),
        (f"{EMPTY}  a\n".encode("utf-16"), "byte-order mark"),
        (f"{EMPTY}  a\n{EMPTY}  a\n".encode(), "SHA256SUMS:2: 'a' stands here twice"),
        (f"{EMPTY} a\n".encode(), "SHA256SUMS:1: expected 64 hex digits"),
        (f"{EMPTY}\n".encode(), "expected 64 hex digits"),
        (f"{EMPTY[:-1]}  a\n".encode(), "expected 64 hex digits"),
        (f"\\{EMPTY}  a\\t\n".encode(), "unknown escape"),
        (f"{EMPTY}  /etc/passwd\n".encode(), "plain path inside the folder"),
        (f"{EMPTY}  ../up\n".encode(), "plain path inside the folder"),
        (f"{EMPTY}  a/../../up\n".encode(), "plain path inside the folder"),
        (f"{EMPTY}  ./a\n".encode(), "plain path inside the folder"),
    ],
)
def test_lines_that_are_refused(data, message):
    assert parse_sums(f"{EMPTY}  good.log\n".encode(), "SHA256SUMS") == {"good.log": EMPTY}
    with pytest.raises(UsageError, match=message):
        parse_sums(data, "SHA256SUMS")
