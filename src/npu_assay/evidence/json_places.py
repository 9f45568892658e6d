"""On which line of a JSON file a key stands, so that a finding can name it: json tells values, not places."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_DEPTH = 16
"""Deeper keys are not looked for: nothing of ours is that deep, and a hostile file costs nothing."""

Key = str | int
"""A key of an object, or a position in an array, from 0."""

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')


@dataclass(frozen=True)
class JsonPlaces:
    """The lines of a document's keys and elements."""

    lines: dict[tuple[Key, ...], int]

    @classmethod
    def of(cls, text: str) -> "JsonPlaces":
        """Of text that is JSON; of other text, whatever can be told."""
        lines: dict[tuple[Key, ...], int] = {}
        for path, line in _walk(text):
            lines.setdefault(path, line)
        return cls(lines)

    def line_of(self, *keys: Key) -> int | None:
        """The line, from 1, of the longest prefix of `keys` that is there; None where nothing of it is."""
        for length in range(len(keys), 0, -1):
            if line := self.lines.get(keys[:length]):
                return line
        return None


def _walk(text: str) -> Iterator[tuple[tuple[Key, ...], int]]:
    path: list[Key | None] = []
    """The key or position of each open object or array; None in an object whose key has not come."""
    line = 1
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
        elif token in "}]":
            del path[-1:]
        elif token == ",":
            if path:
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif token != ":":
            is_key = bool(path) and path[-1] is None
            if is_key:
                path[-1] = _text_of(token)
            if path and (is_key or isinstance(path[-1], int)) and len(path) <= _DEPTH:
                yield tuple(key for key in path if key is not None), line
            if is_key:
                continue
            if token == "{":
                path.append(None)
            elif token == "[":
                path.append(0)


def _text_of(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token


@dataclass(frozen=True)
class Repeated:
    """A key that an object has twice."""

    keys: tuple[Key, ...]
    line: int
    """Of the second one."""

    def __str__(self) -> str:
        return ".".join(map(str, self.keys))


def first_repeated(text: str) -> Repeated | None:
    """The first key of JSON text that stands twice in its object, or None.

    In memory are the keys of the objects that are open, and no others: a document may have millions.
    """
    open_objects: dict[int, tuple[tuple[Key, ...], set[Key]]] = {}
    """Depth -> the object's own path, and its keys so far."""
    for path, line in _walk(text):
        *above, key = path
        if isinstance(key, int):
            continue
        place, keys = open_objects.get(len(path), ((), set()))
        if place != tuple(above):
            place, keys = tuple(above), set()
        if key in keys:
            return Repeated(path, line)
        keys.add(key)
        open_objects[len(path)] = place, keys
    return None
