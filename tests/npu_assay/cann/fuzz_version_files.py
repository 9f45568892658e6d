"""What tests/fuzz.py fuzzes of cann/: every parser of version files."""

from collections.abc import Callable

from fuzz import Target
from version_file_parsers import PARSERS, Parser

from npu_assay.cann.files.keyed import MalformedFileError


def _of_bytes(parse: Parser) -> Callable[[bytes], object]:
    return lambda data: parse(data.decode(errors="replace"), "fuzzed")


TARGETS = [
    Target(name, _of_bytes(parse), tuple(text.encode() for text in texts), (MalformedFileError,))
    for name, parse, texts in PARSERS
]
