"""Our Dockerfile in the layer order of upstream's: the whole source before the slow steps.

vllm-ascend's Dockerfile (v0.18.0, at the root of its repository) copies its source right after the base, then
installs compilers, vLLM, and vllm-ascend with torch-npu: a change of one line of the source makes all of
these layers again. The steps here are ours in both orders, so that nothing but the order differs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from npu_assay.errors import UsageError

#: The first stage with a slow step, and the one that copies the source.
_FIRST, _LAST = "machine-runtime", "image"
_COPY_OF_PATCHES = "COPY --from=patches . /opt/source-first/\n"

_FROM = re.compile(r"^FROM \S+ AS (\S+)\n", re.MULTILINE)
#: With the lines that it goes on in.
_COPY = re.compile(r"^COPY (?!--)(?:.*\\\n)*.*\n", re.MULTILINE)
_RUN = re.compile(r"^(?:#.*\n)*RUN ", re.MULTILINE)


@dataclass(frozen=True)
class _Stage:
    name: str
    text: str
    """From its line FROM to the next one."""


def source_first(dockerfile: str) -> str:
    """The Dockerfile, with what its last stage copies copied before its first slow step, and patches.

    Raises UsageError when it is no longer made of the stages that this looks for.
    """
    head, stages = _split(dockerfile)
    by_name = {stage.name: stage.text for stage in stages}
    copies = _COPY.findall(by_name.get(_LAST, ""))
    slow = _RUN.search(by_name.get(_FIRST, ""))
    if not copies or slow is None:
        raise UsageError(
            f"docker/Dockerfile: expected a stage {_FIRST} that runs something, a stage {_LAST} that copies"
            f" the source, found {', '.join(by_name)}; benchmarks/source_first.py has their names"
        )
    first = by_name[_FIRST]
    by_name[_FIRST] = first[: slow.start()] + "".join([*copies, _COPY_OF_PATCHES]) + first[slow.start() :]
    by_name[_LAST] = _COPY.sub("", by_name[_LAST])
    return head + "".join(by_name.values())


def _split(dockerfile: str) -> tuple[str, Sequence[_Stage]]:
    starts = list(_FROM.finditer(dockerfile))
    ends = [*(start.start() for start in starts[1:]), len(dockerfile)]
    head = dockerfile[: starts[0].start()] if starts else dockerfile
    return head, [
        _Stage(start[1], dockerfile[start.start() : end]) for start, end in zip(starts, ends, strict=True)
    ]
