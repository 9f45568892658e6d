"""Which CANN was installed where the run was, from the version files themselves."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from npu_assay.cann.agreement import Disagreement, Expected, Identity, Part, departures, disagreements
from npu_assay.cann.discovery import Places
from npu_assay.cann.files.install_info import InstallInfo
from npu_assay.cann.versions import EMULATED
from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.process_maps import PROCESS_MAP, loaded_libraries
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.identity import HARDWARE, IDENTITY, identity_line, says_emulated
from npu_assay.claims.rules.identity import STAGE as VERSIONS_STAGE
from npu_assay.evidence.cann_files import LISTING, KeptFiles, Role, read_file, read_kept
from npu_assay.evidence.manifest import StageStatus

#: Libraries of one part alone. Any other is the toolkit's, or one that the driver ships too (libc_sec).
_OF_ONE_PART = {"libascendcl": Role.TOOLKIT, "libatb": Role.ATB, "libascend_hal": Role.DRIVER}
#: Installers of the driver put copies of these into the system's folders; containers mount them there.
_COPIED_BY_THE_DRIVER = {"libascend_hal", "libc_sec"}
_SYSTEM = {PurePosixPath(folder) for folder in Places().system_libraries}
_DELETED = " (deleted)"


class CannRule(Rule):
    """Toolkit, ops, NNAL and driver are of one CANN, which is the lock's, and the loaded libraries are of it.

    Reads the raw version files in cann/, and the libraries that processes of all stages had loaded. It can't
    know whether the files on the host were those of the vendor's packages: the lock's hashes are of the
    packages, and the version files name a build but prove none.
    """

    name = "cann"
    version = 2
    stage = "cann"

    def check(self, case: Case) -> Iterator[Finding]:
        if not case.was_run(self.stage):
            yield self.stage_not_run(self.stage)
            return
        if unconcluded := self._unconcluded(case):
            yield unconcluded
        kept = read_kept(case.archive.cann)
        values, problems = _read(case, kept)
        for role, problem in problems:
            yield self.failed(problem, _evidence(kept, role))
        if kept.machine != (machine := case.manifest.host.machine):
            where = case.in_manifest("host", "machine")
            yield self.failed(
                f"the version files are of {kept.machine}, the host is {machine}", _listing(), where
            )
        listed = {file.file for file in kept.files}
        for path in sorted(case.archive.cann.glob("*/*")):
            name = path.relative_to(case.archive.cann).as_posix()
            if name not in listed:
                yield self.failed(f"{LISTING} lists no {name}", Evidence(f"cann/{name}"), _listing())
        toolkit = values.get(Role.TOOLKIT)
        if not isinstance(toolkit, InstallInfo):
            if Role.TOOLKIT not in dict(problems):
                yield self.failed("no ascend_toolkit_install.info was kept", _listing())
            return
        identity = _identity(toolkit, values)
        yield from self._agreement(kept, identity)
        yield from self._lock(case, kept, identity)
        yield from self._loaded_identity(case, kept, toolkit)
        yield from self._loaded_libraries(case, kept)

    def _unconcluded(self, case: Case) -> Finding | None:
        """What keeps the stage's log from ending as that of a look that found nothing wrong."""
        record = case.manifest.stage(self.stage)
        if record is None or record.status is not StageStatus.PASS:
            return None
        said = case.lines_beginning(self.stage, "findings: ")
        if len(said) == 1 and said[0].text.endswith(", problems: 0"):
            return None
        found = said[0].text if said else "no such line"
        place = said[0].evidence if said else case.log_of(self.stage)
        return self.failed(f"expected one line `findings: N, problems: 0` in the log, found {found}", place)

    def _agreement(self, kept: KeptFiles, identity: Identity) -> Iterator[Finding]:
        found = disagreements(identity)
        for disagreement in found:
            judged = self.failed if disagreement.certain else self.inconclusive
            yield judged(disagreement.message, _evidence_of(kept, disagreement))
        if not found:
            driver = identity.driver.version if identity.driver else ""
            message = f"one identity: toolkit {identity.toolkit}, ATB {identity.atb}, driver {driver}"
            yield self.passed(message, *(_evidence(kept, file.role) for file in kept.files))

    def _lock(self, case: Case, kept: KeptFiles, identity: Identity) -> Iterator[Finding]:
        """The toolkit and ATB are those that the lock asks for, by version and build."""
        environment = case.manifest.environment
        manifest = case.in_manifest("environment", "builds", "cann")
        expected = Expected.of(environment.versions, environment.builds)
        found = departures(identity, expected)
        for departure in found:
            yield self.failed(f"{departure.message} by the lock", _evidence_of(kept, departure), manifest)
        if expected.version is None or expected.build is None:
            yield self.inconclusive("the lock names no version or no build of cann", manifest)
        elif not found:
            message = f"CANN {expected.version} {expected.build}, as the lock asks for"
            yield self.passed(message, _evidence(kept, Role.TOOLKIT), manifest)

    def _loaded_identity(self, case: Case, kept: KeptFiles, toolkit: InstallInfo) -> Iterator[Finding]:
        """The loaded library said that it is this build."""
        line = identity_line(case)
        if line is None:  # the identity rule says so
            return
        said = line.text.removeprefix(IDENTITY)
        build = EMULATED if says_emulated(line) else said.removeprefix(HARDWARE).strip()
        evidence = _evidence(kept, Role.TOOLKIT), line.evidence
        if build == toolkit.innerversion:
            yield self.passed(f"the loaded CANN is {build}, as its install info says", *evidence)
        else:
            message = f"the loaded CANN said {said!r}, the kept install info says {toolkit.innerversion}"
            yield self.failed(message, *evidence)

    def _loaded_libraries(self, case: Case, kept: KeptFiles) -> Iterator[Finding]:
        """Every library of CANN that a process had loaded is of the parts whose version files were kept."""
        roots = _roots(kept)
        loaded: dict[str, Evidence] = {}
        for stage in case.manifest.stages:
            if case.was_run(stage.name):
                for path, line in loaded_libraries(case, stage.name):
                    loaded.setdefault(path, line.evidence)
        strays = {path: stray for path in loaded if (stray := _stray(PurePosixPath(path), roots))}
        for path, (certain, problem) in strays.items():
            judged = self.failed if certain else self.inconclusive
            yield judged(problem, loaded[path], _listing())
        if not loaded and case.was_run(VERSIONS_STAGE):
            yield self.failed(f"no stage has a line `{PROCESS_MAP}...` in its log", _listing())
        elif not loaded:
            yield self.not_applicable("no stage that loads CANN was run")
        elif not strays:
            message = f"{len(loaded)} libraries of CANN were loaded, all of this toolkit, ATB and driver"
            yield self.passed(message, _listing())


def _read(case: Case, kept: KeptFiles) -> tuple[dict[Role, Any], list[tuple[Role, str]]]:
    """What the kept files say, and the problems with those that don't."""
    values: dict[Role, Any] = {}
    problems = []
    for kept_file in kept.files:
        file = read_file(case.archive.cann, kept_file)
        values[kept_file.role] = file.value
        if file.problem is not None:
            problems.append((kept_file.role, file.problem))
    return values, problems


def _identity(toolkit: InstallInfo, values: dict[Role, Any]) -> Identity:
    return Identity(
        toolkit=toolkit,
        ops=values.get(Role.OPS),
        kernels=values.get(Role.KERNELS),
        version_cfg=values.get(Role.VERSION_CFG),
        atb=values.get(Role.ATB),
        driver=values.get(Role.DRIVER),
        firmware=values.get(Role.FIRMWARE),
    )


def _roots(kept: KeptFiles) -> dict[Role, PurePosixPath]:
    """The folders of toolkit, ATB and driver, from where their version files were."""
    roots = {}
    for role, above in ((Role.TOOLKIT, 1), (Role.ATB, 0), (Role.DRIVER, 0)):
        if file := kept.of(role):
            roots[role] = file.path.parents[above]
    return roots


def _stray(library: PurePosixPath, roots: dict[Role, PurePosixPath]) -> tuple[bool, str] | None:
    """Whether it is certain that a loaded library is not of the kept CANN, and why; None where it is."""
    if library.name.endswith(_DELETED):
        return True, f"{str(library).removesuffix(_DELETED)} was replaced on disk while it was loaded"
    if "devlib" in library.parts:
        return True, f"{library} was loaded, a stub to link against"
    name = library.name.split(".so")[0]
    part = _OF_ONE_PART.get(name)
    allowed = [roots[role] for role in ([part] if part else roots) if role in roots]
    if any(root in library.parents for root in allowed):
        return None
    places = ", ".join(map(str, allowed)) or "any folder that was kept"
    if name in _COPIED_BY_THE_DRIVER and library.parent in _SYSTEM:
        return False, f"{library} was loaded: a copy of the system, perhaps of another driver than {places}"
    return True, f"{library} was loaded, which is not of the {part or 'CANN'} in {places}"


def _listing() -> Evidence:
    return Evidence(f"cann/{LISTING}")


def _evidence(kept: KeptFiles, role: Role) -> Evidence:
    file = kept.of(role)
    return Evidence(f"cann/{file.file}") if file else _listing()


def _evidence_of(kept: KeptFiles, disagreement: Disagreement) -> Evidence:
    role = {
        Part.TOOLKIT: Role.TOOLKIT,
        Part.OPS: Role.OPS,
        Part.NNAL: Role.ATB,
        Part.DRIVER: Role.DRIVER,
        Part.FIRMWARE: Role.FIRMWARE,
        Part.VERSION_CFG: Role.VERSION_CFG,
    }[disagreement.part]
    return _evidence(kept, role)
