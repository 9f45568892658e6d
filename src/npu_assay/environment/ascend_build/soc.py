"""SOC_VERSION: which chip a build is for, and whether this tree's setup.py knows it.

The set is read from the tree's setup.py by its syntax tree, nothing of it is run: the keys of the dictionary
`soc_to_device`, and what a condition such as `"ascend950" in soc_version` lets through besides (0.18.0 and
0.22.1rc1 have both). Keys without `ascend` (910b, 910c, 310p) are upstream's words for a whole generation;
setup.py compiles for one member of it then.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from npu_assay.errors import UnusableError

SETUP = "setup.py"

DeviceType = Literal["A2", "A3", "A5", "_310P"]
"""What the build says it is for, in vllm_ascend/_build_info.py."""

#: With kernels of their own in libvllm_ascend_kernels.so and _cann_ops_custom, which need catlass.
WITH_KERNELS: tuple[DeviceType, ...] = ("A2", "A3")

_SAY_IT = "name it with --soc-version or in SOC_VERSION"


@dataclass(frozen=True)
class KnownSocs:
    """The values of SOC_VERSION that a tree takes."""

    source: Path
    """The setup.py that says so."""
    exact: Mapping[str, str]
    """Value -> device type."""
    parts: Mapping[str, str]
    """Part of a value -> device type: any value with it in is taken."""

    def device_type(self, soc: str) -> DeviceType | None:
        """What it is built as; None for one that is not of the set. Raises UnusableError for a new type."""
        found = next((kind for part, kind in self.parts.items() if part in soc), self.exact.get(soc))
        if found is not None and found not in get_args(DeviceType):
            known = ", ".join(get_args(DeviceType))
            raise UnusableError(
                f"{self.source}: {soc} is of the device type {found!r}, which npu-assay does not know, only"
                f" {known}; take a release of vllm-ascend that it was made for"
            )
        return cast(DeviceType | None, found)

    def __str__(self) -> str:
        """The set, for a message."""
        return ", ".join([*sorted(self.exact), *(f"*{part}*" for part in sorted(self.parts))])


def read_known_socs(tree: Path) -> KnownSocs:
    """The set of this tree. Raises UnusableError where its setup.py does not have it in the known form."""
    path = tree / SETUP
    try:
        parsed = ast.parse(path.read_bytes(), str(path))
    except (OSError, SyntaxError, ValueError) as error:
        raise UnusableError(f"{path}: can't be read as Python ({error}); is this vllm-ascend?") from error
    exact: dict[str, str] = {}
    parts: dict[str, str] = {}
    for node in ast.walk(parsed):
        if isinstance(node, ast.Assign) and _names(node.targets) == ["soc_to_device"]:
            exact |= _strings(node.value)
        elif isinstance(node, ast.If) and (part := _part_of_soc(node.test)) is not None:
            parts.update((part, kind) for kind in _device_types(node.body))
    if not exact:
        raise UnusableError(
            f"{path}: no dictionary soc_to_device in it, so the values of SOC_VERSION that it takes can't be"
            " told; npu-assay knows the form of vllm-ascend 0.18.0 to 0.22.1"
        )
    return KnownSocs(path, exact, parts)


def _names(nodes: list[ast.expr]) -> list[str]:
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def _strings(node: ast.expr) -> dict[str, str]:
    """The pairs of a dictionary display that are two strings."""
    if not isinstance(node, ast.Dict):
        return {}
    pairs = ((_string(key), _string(value)) for key, value in zip(node.keys, node.values, strict=True))
    return {key: value for key, value in pairs if key is not None and value is not None}


def _string(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _part_of_soc(test: ast.expr) -> str | None:
    """The string of a test `"string" in soc_version`."""
    match test:
        case ast.Compare(left=left, ops=[ast.In()], comparators=[ast.Name(id="soc_version")]):
            return _string(left)
    return None


def _device_types(body: list[ast.stmt]) -> list[str]:
    """What `device_type` is set to in the body of a condition."""
    values = (
        _string(node.value)
        for node in body
        if isinstance(node, ast.Assign) and _names(node.targets) == ["device_type"]
    )
    return [value for value in values if value is not None]


@dataclass(frozen=True)
class Soc:
    """The chip that is built for."""

    name: str
    """SOC_VERSION."""
    device_type: DeviceType


def choose_soc(known: KnownSocs, found: str | None, asked: str | None) -> Soc:
    """What to build for: the die that was found, or what the user asked for, which must not contradict it.

    A user's word for a whole generation becomes the chip of it that was found. Raises UnusableError for a
    value that the tree does not know, for a contradiction, and where nothing is known.
    """
    if found is None and asked is None:
        raise UnusableError(f"SOC_VERSION is not known, since no NPU was found; {_SAY_IT}: {known}")
    if asked is not None:
        chosen = _checked(known, asked, "SOC_VERSION", "name another")
        if found is None:
            return chosen
        there = _checked(known, found, "the NPU found", "build for it where vllm-ascend knows it")
        general = not asked.startswith("ascend") and chosen.device_type == there.device_type
        if asked != found and not general:
            raise UnusableError(
                f"SOC_VERSION is {asked}, and the NPU found is {found}; unset SOC_VERSION (official"
                f" images set it) or give --soc-version {found}"
            )
        return there
    assert found is not None
    return _checked(known, found, "the NPU found", f"where it is one of them under another name, {_SAY_IT}")


def _checked(known: KnownSocs, soc: str, what: str, advice: str) -> Soc:
    kind = known.device_type(soc)
    if kind is None:
        raise UnusableError(f"{what} is {soc!r}, expected one that {known.source} knows: {known}; {advice}")
    return Soc(soc, kind)
