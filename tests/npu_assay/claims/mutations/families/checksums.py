"""SHA256SUMS itself: what GNU's sha256sum would skip, misread, or take outside of the archive."""

import re
from collections.abc import Callable

from mutations.forged import SUMS, Forged
from mutations.mutation import Mutation, Sealing


def _sums(name: str, change: Callable[[bytes], bytes]) -> Mutation:
    def edit(forged: Forged) -> None:
        forged.write(SUMS, change(forged.read(SUMS)))

    return Mutation(f"SHA256SUMS: {name}", edit, "integrity", sealing=Sealing.DERIVED)


def _first(data: bytes) -> bytes:
    return data.partition(b"\n")[0] + b"\n"


def _other_digit(data: bytes) -> bytes:
    return (b"1" if data[:1] == b"0" else b"0") + data[1:]


MUTATIONS = (
    _sums("another digit", _other_digit),
    _sums("a line dropped", lambda data: data.partition(b"\n")[2]),
    _sums("a line twice", lambda data: _first(data) + data),
    _sums("two hashes of a file", lambda data: _other_digit(_first(data)) + data),
    _sums("a line for a file that is not there", lambda data: data + b"0" * 64 + b"  stages/zz.log\n"),
    _sums("a file of the host", lambda data: data + b"0" * 64 + b"  /etc/passwd\n"),
    _sums("a file outside", lambda data: data + b"0" * 64 + b"  ../outside.log\n"),
    _sums("a name that is not plain", lambda data: data.replace(b"  manifest", b"  ./manifest", 1)),
    _sums("a climb that comes back", lambda data: data.replace(b"  stages/", b"  stages/../stages/", 1)),
    _sums("an escape that GNU does not write", lambda data: b"\\" + data.replace(b"  ", b"  \\x", 1)),
    _sums("an escaped line without escapes", lambda data: b"\\" + data),
    _sums("carriage returns", lambda data: data.replace(b"\n", b"\r\n")),
    _sums("a byte-order mark", lambda data: b"\xef\xbb\xbf" + data),
    _sums("in UTF-16", lambda data: data.decode().encode("utf-16")),
    _sums(
        "capital digits",
        lambda data: re.sub(rb"^\S+", lambda digits: digits.group().upper(), data, flags=re.MULTILINE),
    ),
    _sums("binary markers", lambda data: data.replace(b"  ", b" *")),
    _sums("a comment", lambda data: b"# all good\n" + data),
    _sums("an empty line", lambda data: data + b"\n"),
    _sums("cut within its last line", lambda data: data[:-2]),
    _sums("no line feed at its end", lambda data: data[:-1]),
    _sums("in another order", lambda data: b"".join(reversed(data.splitlines(keepends=True)))),
    _sums("a NUL in a name", lambda data: data.replace(b"  manifest", b"  \0manifest", 1)),
    _sums("empty", lambda data: b""),
    _sums("itself", lambda data: data + b"0" * 64 + b"  SHA256SUMS\n"),
    Mutation("SHA256SUMS: dropped", lambda forged: forged.remove(SUMS), "integrity", sealing=Sealing.DERIVED),
    Mutation(
        "SHA256SUMS: a line of a lower folder",
        lambda forged: forged.rename(SUMS, "stages/SHA256SUMS"),
        "integrity",
        sealing=Sealing.DERIVED,
    ),
)
