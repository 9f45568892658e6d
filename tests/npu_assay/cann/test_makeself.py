"""The header of a makeself archive, without running it."""

from pathlib import Path

import pytest

from npu_assay.cann.run_packages.makeself import (
    MakeselfHeader,
    NotMakeselfError,
    parse_makeself,
    read_makeself,
)

BEGIN = '#!/bin/sh\n# This script was generated using Makeself 2.4.5\nlabel="A RUN PACKAGE"\n'


def archive(*lines: str, payload: bytes = b"0123456789") -> bytes:
    return "\n".join([BEGIN.rstrip("\n"), *lines, ""]).encode() + payload


@pytest.mark.parametrize(
    ("lines", "size", "unpacked"),
    [
        (('filesizes="10"', 'skip="5"'), 10, None),
        (('filesizes="10"', 'offset=`head -n 5 "$0" | wc -c`'), 10, None),
        (('filesizes="7 3"', 'skip="6"', "\techo Uncompressed size: 3 KB"), 10, 3 << 10),
        (('filesizes="99"', 'skip="5"'), 99, None),
    ],
)
def test_sizes_are_read(lines: tuple[str, ...], size: int, unpacked: int | None) -> None:
    text = archive(*lines)
    header = parse_makeself(text)
    assert header == MakeselfHeader("A RUN PACKAGE", len(text) - 10 + size, unpacked)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "it begins with nothing, not with #!"),
        (b"<html><body>403 Forbidden</body>", "it begins with '<html><body>403 Forbidde', not with #!"),
        (b"\x7fELF\x00", r"it begins with '\x7fELF\x00', not with #!"),
        (b"#!/bin/sh\necho hello\n", "its first lines do not say that Makeself made it"),
        (archive('skip="5"'), "has no filesizes, or neither skip nor offset"),
        (archive('filesizes="10"'), "has no filesizes, or neither skip nor offset"),
        (archive('filesizes="10"', 'skip="50"'), "it ends inside of the 50 lines of its Makeself header"),
        (archive('filesizes="ten"', 'skip="5"'), "has no filesizes"),
    ],
)
def test_what_is_none_is_told(tmp_path: Path, data: bytes, says: str) -> None:
    good, bad = tmp_path / "good.run", tmp_path / "bad.run"
    good.write_bytes(archive('filesizes="10"', 'skip="5"'))
    assert read_makeself(good).size == good.stat().st_size
    bad.write_bytes(data)
    with pytest.raises(NotMakeselfError) as raised:
        read_makeself(bad)
    assert says in str(raised.value)
