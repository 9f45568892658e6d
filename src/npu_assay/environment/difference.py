"""Two locks, or two variants, side by side: component by component, and their requirements."""

from typing import Literal

from npu_assay.environment.lock import Component, Kind
from npu_assay.environment.requirements import read_pins
from npu_assay.environment.variant import Variant
from npu_assay.strict import Strict


class Side(Strict):
    """One of the two."""

    name: str
    kind: Kind
    lock_sha256: str


class Change(Strict):
    """One thing that is not the same; None on a side that does not have it."""

    what: str
    """components.torch.version, requirements.numpy, python, ..."""
    a: str | None
    b: str | None


class LockDifference(Strict):
    """What `env diff --json` prints."""

    schema_version: Literal[1] = 1
    a: Side
    b: Side
    components: tuple[Change, ...]
    """Python and the components, field by field; a component that only one side has is one change."""
    requirements: tuple[Change, ...]
    """Versions."""

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return not (self.components or self.requirements)


def difference(a: Variant, b: Variant) -> LockDifference:
    """All differences in what is installed: words, such as deviations and notes, are not compared."""
    changes = [Change(what="python", a=_python(a), b=_python(b))]
    for name in [*a.components, *(name for name in b.components if name not in a.components)]:
        changes += _of_component(name, a.components.get(name), b.components.get(name))
    pins = [{pin.name: pin.version for pin in read_pins(v.lock.requirements_file)} for v in (a, b)]
    return LockDifference(
        a=_side(a),
        b=_side(b),
        components=tuple(change for change in changes if change.a != change.b),
        requirements=tuple(
            Change(what=f"requirements.{name}", a=pins[0].get(name), b=pins[1].get(name))
            for name in sorted(pins[0].keys() | pins[1].keys())
            if pins[0].get(name) != pins[1].get(name)
        ),
    )


def _python(variant: Variant) -> str:
    return variant.lock.content.python


def _side(variant: Variant) -> Side:
    return Side(name=variant.lock.name, kind=variant.kind, lock_sha256=variant.lock.sha256)


def _of_component(name: str, a: Component | None, b: Component | None) -> list[Change]:
    where = f"components.{name}"
    if a is None or b is None:
        return [Change(what=where, a=_in_short(a), b=_in_short(b))]
    fields_a, fields_b = _fields(a), _fields(b)
    return [
        Change(what=f"{where}.{field}", a=fields_a.get(field), b=fields_b.get(field))
        for field in dict.fromkeys((*fields_a, *fields_b))
    ]


def _in_short(component: Component | None) -> str | None:
    if component is None:
        return None
    build = f" ({component.build})" if component.build else ""
    return f"{component.version}{build} from {component.source}"


def _fields(component: Component) -> dict[str, str]:
    values = component.pins()
    hashes = {f"sha256.{key}": sha256 for key, sha256 in values.pop("sha256").items()}
    return {field: str(value) for field, value in values.items()} | hashes
