"""The image that a run was made in is the archive's lock's, and has a digest."""

from collections.abc import Iterator
from typing import get_args

from npu_assay.claims.case import Case, Mode
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.lock import LOCK
from npu_assay.environment.lock import DEVICE_WORD, Architecture, read_lock
from npu_assay.environment.variant import Variant
from npu_assay.evidence.image import CANN_SOURCES, ImageRecord, image_record, read_image

FILE = Evidence("image.json")
#: What follows from the lock, and from where the image has its CANN.
_DERIVED = ("target", "lock", "lock_sha256", "device", "cann", "architecture", "commits")


class ImageRule(Rule):
    """image.json is what the manifest says, and an image of the run's lock, device and architecture.

    Reads image.json and inputs/lock.toml, and derives again what an image of that lock says of itself. It
    can't know whether the digest is that of the image which ran: whoever starts a container gives it. Nor
    does it know the base and the revision, which the image's build was told.
    """

    name = "image"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        record, said = case.manifest.image, case.in_manifest("image")
        there = (case.archive.root / FILE.file).is_file()
        if record is None and not there:
            yield self.not_applicable("the run was in no image of npu-assay")
            return
        if record is None or not there:
            lacks = f"no {FILE}" if record is not None else f"there is {FILE}, the manifest names no image"
            yield self.failed(f"an image in one place only: {lacks}", FILE, said)
            return
        found = read_image(case.archive.root / FILE.file, str(FILE))
        if found != record:
            different = [
                name for name in ImageRecord.model_fields if getattr(found, name) != getattr(record, name)
            ]
            yield self.failed(f"{FILE} and the manifest differ in {', '.join(different)}", FILE, said)
            return
        yield from self._lock(case, record)
        yield self._digest(case, record)

    def _lock(self, case: Case, record: ImageRecord) -> Iterator[Finding]:
        kind, machine = case.manifest.device.kind, case.manifest.host.machine
        architectures = [name for name in get_args(Architecture) if name == machine]
        if record.cann_source not in CANN_SOURCES[kind] or not architectures:
            yield self.failed(
                f"{record.target} is no image for {kind} on {machine}",
                FILE,
                case.in_manifest("device", "kind"),
            )
            return
        derived = image_record(
            Variant.of(read_lock(case.archive.lock), kind),
            architectures[0],
            record.cann_source,
            kind=record.kind,
            base=record.base,
            revision=record.revision,
        )
        wrong = [name for name in _DERIVED if getattr(record, name) != getattr(derived, name)]
        for name in wrong:
            yield self.failed(
                f"{name} is {getattr(record, name)!r}, of this lock's image {getattr(derived, name)!r}",
                FILE,
                LOCK,
                case.in_manifest("image", name),
            )
        if not wrong:
            yield self.passed(f"an image of the run's lock for {DEVICE_WORD[kind]} on {machine}", FILE, LOCK)

    def _digest(self, case: Case, record: ImageRecord) -> Finding:
        said = case.in_manifest("image", "digest")
        if record.digest is not None:
            return self.passed(f"{record.name}: {record.digest}", FILE, said)
        message = f"{record.name}: digest not given, so which bytes it was is not known"
        judge = self.inconclusive if case.mode is Mode.FORMAL else self.passed
        return judge(message, FILE, said)
