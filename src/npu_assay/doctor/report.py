"""The report as a document: what `npu-assay doctor --json` prints."""

from typing import Literal

from pydantic import Field

from npu_assay.diagnosis import Level
from npu_assay.doctor.examination import Group
from npu_assay.environment.lock import Kind
from npu_assay.strict import Strict


class DiagnosisRecord(Strict):
    """One thing that was looked at."""

    check: str = Field(description="What was looked at: a stable name in kebab-case.")
    level: Level
    message: str = Field(description="One line: what, where, what was found and what was expected.")
    advice: str | None = Field(description="What mends it; never null where level is problem.")


class GroupRecord(Strict):
    """What was found in one part of the machine."""

    name: str
    diagnoses: tuple[DiagnosisRecord, ...] = Field(min_length=1)


class DoctorReport(Strict):
    """Everything that npu-assay doctor found."""

    schema_version: Literal[1] = 1
    environment: str = Field(description="The lock that the machine was compared with.")
    device_kind: Kind
    problems: int = Field(ge=0)
    warnings: int = Field(ge=0)
    groups: tuple[GroupRecord, ...]

    @classmethod
    def of(cls, environment: str, kind: Kind, groups: tuple[Group, ...]) -> "DoctorReport":
        """The report of these groups."""
        levels = [diagnosis.level for group in groups for diagnosis in group.diagnoses]
        return cls(
            environment=environment,
            device_kind=kind,
            problems=levels.count(Level.PROBLEM),
            warnings=levels.count(Level.WARNING),
            groups=tuple(
                GroupRecord(
                    name=group.name,
                    diagnoses=tuple(
                        DiagnosisRecord(check=d.check, level=d.level, message=d.message, advice=d.advice)
                        for d in group.diagnoses
                    ),
                )
                for group in groups
            ),
        )
