"""BuildKit's plain progress, line by line: which stages are done, and why a build failed."""

import re
from dataclasses import dataclass, field

#: `#28 [built-emulated 2/2] RUN ...`; several platforms have theirs before the stage's name.
_VERTEX = re.compile(r"#(?P<id>\d+) \[(?:\S+/\S+ )?(?P<stage>[\w-]+) +(?P<number>\d+)/(?P<of>\d+)\] ")
#: After a line that its program has not ended, too.
_DONE = re.compile(r"(?:.* )?#(?P<id>\d+) (?:DONE (?P<seconds>[\d.]+)s|(?P<cached>CACHED))$")
#: A line of npu-assay, or of its launcher, which a layer runs; and the end of a layer that failed.
_OURS = re.compile(r"#(?P<id>\d+) [\d.]+ (?P<line>(?:npu-assay|assay): .*)$")
_FAILED = re.compile(r"#(?P<id>\d+) ERROR: ")
_ERROR = re.compile(r"^ERROR: (?P<line>.*)$")
_CODE = re.compile(r"exit code: (\d+)")


@dataclass
class _Stage:
    of: int
    done: int = 0
    seconds: float = 0.0
    cached: int = 0


@dataclass
class BuildLog:
    """What was read so far."""

    error: str = ""
    """The last line of npu-assay, or of its launcher, in the first layer that failed."""
    failure: str = ""
    """The line in which BuildKit says why it failed."""
    _stages: dict[str, _Stage] = field(default_factory=dict)
    _lines: dict[str, str] = field(default_factory=dict)
    _vertices: dict[str, str] = field(default_factory=dict)
    _ended: set[str] = field(default_factory=set)

    @property
    def exit_code(self) -> int | None:
        """Of the program that failed in the build; None where none did."""
        found = _CODE.search(self.failure)
        return int(found[1]) if found else None

    def untold(self) -> list[str]:
        """A line for each stage of a good build whose end BuildKit left out, as it does now and then."""
        return [f"{name:<24} done" for name, stage in self._stages.items() if stage.done < stage.of]

    def feed(self, line: str) -> str | None:
        """Take a line; returns one about a stage that is done with it."""
        line = line.rstrip()
        if found := _OURS.match(line):
            self._lines[found["id"]] = found["line"]
        elif found := _FAILED.match(line):
            self.error = self.error or self._lines.get(found["id"], "")
        elif found := _ERROR.match(line):
            self.failure = found["line"]
        elif found := _VERTEX.match(line):
            self._vertices[found["id"]] = found["stage"]
            self._stages.setdefault(found["stage"], _Stage(int(found["of"])))
        elif found := _DONE.match(line):
            return self._end(found["id"], float(found["seconds"] or 0), bool(found["cached"]))
        return None

    def _end(self, vertex: str, seconds: float, cached: bool) -> str | None:
        name = self._vertices.get(vertex)
        if name is None or vertex in self._ended:  # BuildKit repeats what several stages want
            return None
        self._ended.add(vertex)
        stage = self._stages[name]
        stage.done += 1
        stage.seconds += seconds
        stage.cached += cached
        if stage.done < stage.of:
            return None
        took = "cached" if stage.cached == stage.of else f"{stage.seconds:6.1f} s"
        return f"{name:<24} {took}"
