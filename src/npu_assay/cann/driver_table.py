"""Which drivers a CANN works with: the vendor's table (drivers.toml) and how to look into it."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from npu_assay.cann.versions import ReleaseVersion

_TABLE = Path(__file__).with_name("drivers.toml")


class Match(StrEnum):
    """A driver's place in the row of a CANN."""

    LISTED = "listed"
    TOO_OLD = "too old"
    """Older than every driver of the row."""
    UNLISTED = "not listed"
    """Newer, or between two series that are listed: the vendor says nothing of it."""
    NO_ROW = "no row"
    """The table has nothing about this CANN."""


@dataclass(frozen=True)
class Row:
    """The drivers of one series of CANN."""

    series: ReleaseVersion
    drivers: tuple[ReleaseVersion, ...]
    """Series of drivers, the oldest first."""
    source: str

    def match(self, driver: ReleaseVersion) -> Match:
        """Where the driver stands in this row."""
        if any(driver.is_of(series) for series in self.drivers):
            return Match.LISTED
        return Match.TOO_OLD if driver < self.drivers[0] else Match.UNLISTED

    def __str__(self) -> str:
        return ", ".join(map(str, self.drivers))


@cache
def driver_table() -> tuple[Row, ...]:
    """All rows, the longest series first."""
    rows = tomllib.loads(_TABLE.read_text())["cann"]
    table = (
        Row(
            ReleaseVersion.parse(row["series"]),
            tuple(sorted(map(ReleaseVersion.parse, row["drivers"]))),
            row["source"],
        )
        for row in rows
    )
    return tuple(sorted(table, key=lambda row: len(row.series.parts), reverse=True))


def row_of(cann: ReleaseVersion) -> Row | None:
    """The row of that CANN, or None where the table has none."""
    return next((row for row in driver_table() if cann.is_of(row.series)), None)
