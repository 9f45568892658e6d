"""Which CANN is used, and whether links and variables mean that one."""

from collections.abc import Iterator
from pathlib import Path

from npu_assay.cann import advice
from npu_assay.cann.checks.look import Look
from npu_assay.cann.discovery import ATB_VARIABLE, TOOLKIT_LINKS, TOOLKIT_VARIABLES
from npu_assay.cann.installed import Toolkit
from npu_assay.cann.paths import is_file, is_within, real_path
from npu_assay.cann.versions import ReleaseVersion
from npu_assay.diagnosis import Diagnosis, Level


def check_toolkit(look: Look) -> Iterator[Diagnosis]:
    """The CANN that is used, or that there is none."""
    toolkit = look.installed.toolkit
    if toolkit is None:
        yield Diagnosis(
            "cann",
            Level.PROBLEM,
            f"no CANN: none in {', '.join(TOOLKIT_VARIABLES)}, none below {look.places.root}",
            look.install_toolkit(look.expected.version),
        )
    elif toolkit.info is None:
        whole = next((other for other in look.installed.toolkits if other.value), None)
        yield Diagnosis(
            "cann",
            Level.PROBLEM,
            f"{toolkit.names[0]} means {toolkit.root}, without ascend_toolkit_install.info: no whole CANN",
            f"in a new shell: {advice.source_script(whole)}"
            if whole
            else look.install_toolkit(look.expected.version),
        )
    elif toolkit.value is not None:
        yield Diagnosis("cann", Level.GOOD, f"CANN {toolkit}, by {', '.join(toolkit.names)}")


def check_links(look: Look) -> Iterator[Diagnosis]:
    """Links and variables that lead to no folder which this user can read."""
    installed, root = look.installed, look.places.root
    for dangling in installed.dangling:
        name = dangling.name
        if name in (*TOOLKIT_VARIABLES, ATB_VARIABLE):
            script = installed.toolkit.script if installed.toolkit and name != ATB_VARIABLE else None
            yield Diagnosis(
                "cann-links",
                Level.PROBLEM,
                f"{name} is {dangling.target}: no folder that this user can read",
                f"unset {name}; . {script}" if script else f"unset {name}",
            )
        else:
            target = _link_target(look, name)
            yield Diagnosis(
                "cann-links",
                Level.PROBLEM,
                f"{root / name} leads nowhere",
                advice.link(target, root / name) if target else f"sudo rm {root / name}",
            )


def _link_target(look: Look, name: str) -> str | None:
    """What `cann`, `ascend-toolkit/latest` or `nnal/atb/latest` could name: the newest that is beside it."""
    if name == "ascend-toolkit/latest" and (look.places.root / "cann").is_symlink():
        return "../cann"
    folder = real_path((look.places.root / name).parent)
    parts = look.installed.atbs if name.startswith("nnal") else look.installed.toolkits
    beside = {
        part.root.name: ReleaseVersion.parse(part.value.version)
        for part in parts
        if part.root.parent == folder and part.value
    }
    return max(beside, key=lambda name: beside[name], default=None)


def check_selection(look: Look, used: Toolkit) -> Iterator[Diagnosis]:
    """Whether the variables mean one CANN, and the one that is linked."""
    named = {name: toolkit for toolkit in look.installed.toolkits for name in toolkit.names}
    variables = [name for name in TOOLKIT_VARIABLES if name in named]
    for name in variables[1:]:
        if named[name] is not named[variables[0]]:
            yield Diagnosis(
                "cann-selection",
                Level.PROBLEM,
                f"{variables[0]} means {named[variables[0]]}, but {name} means {named[name]}",
                f"in a new shell: {advice.source_script(used)}",
            )
    linked = next((named[link] for link in TOOLKIT_LINKS if link in named), None)
    if variables and linked is not None and linked is not used:
        yield Diagnosis(
            "cann-selection",
            Level.WARNING,
            f"{variables[0]} means {used}, but the link in {look.places.root} means {linked}",
            f"to use the linked one, in a new shell: {advice.source_script(linked)}",
        )
    if not variables:
        yield Diagnosis(
            "cann-selection",
            Level.NOTE,
            f"{TOOLKIT_VARIABLES[0]} is not set in this shell, so {used.names[0]} counts",
            advice.source_script(used),
        )
    yield from _library_path(look, used)


def _library_path(look: Look, used: Toolkit) -> Iterator[Diagnosis]:
    """Whether LD_LIBRARY_PATH has the libraries of the CANN that the variables mean."""
    for entry in look.variables.get("LD_LIBRARY_PATH", "").split(":"):
        library = Path(entry) / "libascendcl.so"
        if entry and is_file(library):
            if not is_within(real_path(library), used.root):
                yield Diagnosis(
                    "cann-selection",
                    Level.PROBLEM,
                    f"LD_LIBRARY_PATH takes libascendcl.so from {entry}, not from {used.root}",
                    f"in a new shell: {advice.source_script(used)}",
                )
            return


def check_builds(look: Look, used: Toolkit) -> Iterator[Diagnosis]:
    """Several CANNs side by side."""
    values = {toolkit.root: toolkit.value for toolkit in look.installed.toolkits if toolkit.value}
    if len(values) < 2:
        return
    versions = [value.version for value in values.values()]
    same = ", several of one version" if len(set(versions)) < len(versions) else ""
    others = [toolkit for toolkit in look.installed.toolkits if toolkit.value and toolkit is not used]
    yield Diagnosis(
        "cann-builds",
        Level.WARNING,
        f"{len(values)} CANNs are installed{same}: {used} is used, by {used.names[0]}; "
        f"not used: {'; '.join(map(str, others))}",
        f"to use another, in a new shell: {' or '.join(map(advice.source_script, others))}",
    )
