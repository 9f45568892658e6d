"""Which of the installed CANNs is used: that of the caller's variables, else the one that a lock means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from npu_assay.cann.agreement import Expected, Identity, departures
from npu_assay.cann.checks.look import Look
from npu_assay.cann.checks.selection import check_links
from npu_assay.cann.discovery import (
    ATB_VARIABLE,
    TOOLKIT_VARIABLES,
    Places,
    find_installed,
    root_of,
    usual_roots,
)
from npu_assay.cann.installed import Atb, Installed, Toolkit
from npu_assay.cann.versions import is_build, is_version
from npu_assay.errors import UnusableError


@dataclass(frozen=True)
class Choice:
    """One toolkit, the ATB that goes with it, and the rest that is there."""

    places: Places
    """Where it was found."""
    installed: Installed
    """All of that place, the chosen ones first."""
    why: str
    """What chose it: the name of a variable, or words."""
    others: tuple[Toolkit, ...] = ()
    """What was not chosen, of all places."""

    def __str__(self) -> str:
        others = f"; not used: {'; '.join(map(str, self.others))}" if self.others else ""
        return f"CANN {self.installed.toolkit}, {self.why}, with {self.installed.atb or 'no ATB'}{others}"


def usual_places(variables: Mapping[str, str]) -> tuple[Places, ...]:
    """Where the vendor's installers put CANN."""
    return tuple(Places(root) for root in usual_roots(variables))


def choose(variables: Mapping[str, str], expected: Expected, places: Sequence[Places]) -> Choice:
    """The toolkit that the variables name; else the first in these places of the expected version and build.

    Nothing is judged but that. Raises UnusableError that names all there are where none is to be chosen.
    """
    named = next((name for name in TOOLKIT_VARIABLES if variables.get(name)), None)
    if named is not None:
        return _named(named, variables, expected, replace(places[0], root=root_of(variables)))
    found = [(place, find_installed(place, {})) for place in places]
    toolkits = [toolkit for _, installed in found for toolkit in installed.toolkits]
    for place, installed in found:
        for toolkit in installed.toolkits:
            if _fits(toolkit, expected):
                others = tuple(other for other in toolkits if other is not toolkit)
                why = "the one that the lock means" if others else "the only one"
                # An ATB that the shell has sourced counts, wherever it is.
                atbs = find_installed(place, _only(variables, ATB_VARIABLE)).atbs
                whole = replace(installed, atbs=atbs)
                return Choice(place, _first(whole, toolkit, variables, expected), why, others)
    raise UnusableError(_none_fits(toolkits, expected, places))


def _named(name: str, variables: Mapping[str, str], expected: Expected, places: Places) -> Choice:
    installed = find_installed(places, variables)
    gone = tuple(one for one in installed.dangling if one.name in (*TOOLKIT_VARIABLES, ATB_VARIABLE))
    look = Look(places, variables, expected, None, replace(installed, dangling=gone))
    if faults := [f"{fault.message} -> {fault.advice}" for fault in check_links(look)]:
        raise UnusableError("\n".join(faults))
    chosen = installed.toolkits[0]  # there is one: the variable does not lead nowhere
    for other in installed.toolkits[1:]:
        if second := next((v for v in TOOLKIT_VARIABLES if v in other.names), None):
            raise UnusableError(
                f"{name} means {chosen}, but {second} means {other}; in a new shell, source the set_env.sh of"
                " one of them, or of none"
            )
    others = tuple(installed.toolkits[1:])
    return Choice(places, _first(installed, chosen, variables, expected), f"by {name}", others)


def _first(
    installed: Installed, toolkit: Toolkit, variables: Mapping[str, str], expected: Expected
) -> Installed:
    """The same, with the chosen toolkit first, and first of the ATBs the one that is to go with it."""
    toolkits = (toolkit, *(one for one in installed.toolkits if one is not toolkit))
    fitting = None if variables.get(ATB_VARIABLE) else _atb(installed.atbs, expected)
    atbs = installed.atbs
    if fitting is not None:
        atbs = (fitting, *(one for one in atbs if one is not fitting))
    return replace(installed, toolkits=toolkits, atbs=atbs)


def _fits(toolkit: Toolkit, expected: Expected) -> bool:
    if toolkit.value is None:
        return False
    return not departures(Identity(toolkit.value), Expected(version=expected.version, build=expected.build))


def _atb(atbs: Iterable[Atb], expected: Expected) -> Atb | None:
    """The first of the expected version, one of the expected build before others."""
    of_version = [
        atb
        for atb in atbs
        if atb.value and expected.atb_version and is_version(atb.value.version, expected.atb_version)
    ]
    of_build = (
        atb
        for atb in of_version
        if atb.value
        and expected.atb_build
        and is_build(atb.value.build, expected.atb_build.removeprefix(f"{atb.value.version}."))
    )
    return next(of_build, of_version[0] if of_version else None)


def _only(variables: Mapping[str, str], name: str) -> dict[str, str]:
    return {name: variables[name]} if variables.get(name) else {}


def _none_fits(toolkits: Sequence[Toolkit], expected: Expected, places: Sequence[Places]) -> str:
    wanted = " ".join(filter(None, (expected.version, f"({expected.build})" if expected.build else None)))
    mend = f"; type: {expected.command} --from DIR" if expected.command else ""
    where = " or ".join(str(place.root) for place in places)
    if not toolkits:
        variables = " nor ".join(TOOLKIT_VARIABLES)
        return (
            f"no CANN: neither {variables} is set, and there is none below {where}; expected {wanted}{mend}"
        )
    found = "; ".join(f"{toolkit} ({toolkit.names[0]})" for toolkit in toolkits)
    return f"no CANN {wanted} below {where}; found {found}{mend}"
