"""A JSON document of an archive: an object of bounded size, read strictly."""

from pathlib import Path
from typing import Any

from npu_assay.evidence.jsonlines import parse_object
from npu_assay.whole import read_whole

#: Bytes of the largest document; environment.json, with a sha256 of every loaded file, has some 100 kB.
MOST_BYTES = 16 << 20


def read_document(path: Path, name: str, most: int = MOST_BYTES) -> dict[str, Any]:
    """The object in a JSON file.

    Raises UsageError that begins with `name`: the file can't be read or has more than `most` bytes; it is no
    JSON object, or one that is nested too deep; a key stands twice in an object; NaN or Infinity.
    """
    return parse_object(read_whole(path, name, most), name)
