import hashlib
import os
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
