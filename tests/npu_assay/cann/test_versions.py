"""Versions in the vendor's forms are compared as the vendor counts them; the driver table is looked into."""

import pytest

from npu_assay.cann.driver_table import Match, driver_table, row_of
from npu_assay.cann.versions import ReleaseVersion, is_build, is_version

#: The oldest first.
IN_ORDER = (
    "8.0.RC3",
    "8.0.0",
    "8.3.RC1.alpha001",
    "8.3.RC1",
    "8.3.rc2",
    "8.5.0.alpha001",
    "8.5.0",
    "8.5.1",
    "9.0.0-beta.1",
    "9.0.0-beta.2",
    "9.0.0",
    "9.0.0.1",
    "23.0.7",
    "24.1.rc3",
    "25.5.1",
    "25.7.rc1",
    "25.7.rc1.6",
    "26.0.RC1",
    "26.0.0",
)


def test_versions_stand_in_the_order_of_their_releases() -> None:
    versions = [ReleaseVersion.parse(text) for text in IN_ORDER]
    newest_first = list(reversed(versions))
    assert sorted(newest_first) == versions
    assert len(set(versions)) == len(versions)


@pytest.mark.parametrize(
    "text", ["", "9", "nine", "9.0.0 ", "9..0", "8.3.T5.0", "v9.0.0", "9.0.0.B250", "\u0669.\u0660"]
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no version such as"):
        ReleaseVersion.parse(text)


def test_one_version_may_be_written_in_two_ways() -> None:
    assert is_version("8.3.RC2", "8.3.rc2")
    assert is_version("latest", "latest")
    assert not is_version("9.0.0", "9.0.0.1")
    assert not is_version("9.0.0", "latest")


def test_a_build_is_expected_whole_or_alone() -> None:
    found = "V100R001C10SPC001B250"
    assert is_build(found, found)
    assert is_build(found, "b250")
    assert is_build("B160", "B160")
    assert is_build("EMULATED", "EMULATED")
    assert not is_build(found, "B25")
    assert not is_build(found, "V100R001C10SPC001B243")
    assert not is_build(None, "B250")


@pytest.mark.parametrize(
    ("cann", "driver", "expected"),
    [
        ("9.0.0", "25.5.1", Match.LISTED),
        ("9.0.0", "25.0.rc1.1", Match.LISTED),
        ("9.0.0", "25.7.rc1.6", Match.LISTED),
        ("9.0.0", "26.0.rc1", Match.LISTED),
        ("9.0.0", "26.1.1", Match.LISTED),
        ("9.0.0", "25.5.1+emulated", Match.LISTED),
        ("9.0.0", "24.1.rc3", Match.TOO_OLD),
        ("9.0.0", "25.4.0", Match.UNLISTED),
        ("9.0.0", "26.0.RC2", Match.UNLISTED),
        ("9.0.0", "27.0.0", Match.UNLISTED),
        ("9.0.0-beta.1", "25.5.1", Match.LISTED),
        ("9.1.0", "25.2.0", Match.LISTED),
        ("9.1.0", "25.0.1", Match.TOO_OLD),
        ("8.5.1", "25.5.1", Match.LISTED),
        ("8.5.1", "26.0.RC1", Match.UNLISTED),
        ("8.5.2", "26.0.RC1", Match.LISTED),
        ("8.3.RC2", "25.3.rc1", Match.NO_ROW),
    ],
)
def test_the_driver_table(cann: str, driver: str, expected: Match) -> None:
    row = row_of(ReleaseVersion.parse(cann))
    assert (row.match(ReleaseVersion.parse(driver)) if row else Match.NO_ROW) is expected


def test_every_row_of_the_table_has_drivers_and_a_source() -> None:
    rows = driver_table()
    assert len({row.series for row in rows}) == len(rows)
    assert all(row.drivers and row.source for row in rows)
