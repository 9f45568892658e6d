"""docs/on-an-npu.md shows the vendor's table of drivers as npu-assay has it."""

import tomllib

from markdown_parts import rows

from npu_assay.project import ROOT

HEADING = "Driver and firmware"


def shown(document: str) -> dict[str, list[str]]:
    """Series of CANN -> drivers, of the table in a document."""
    return {
        row.cells[0]: [driver.strip() for driver in row.cells[1].split(",")]
        for row in rows(document)
        if row.heading == HEADING
    }


def test_the_table_is_that_of_the_source() -> None:
    source = tomllib.loads((ROOT / "src" / "npu_assay" / "cann" / "drivers.toml").read_text())
    known = {row["series"]: row["drivers"] for row in source["cann"]}
    document = (ROOT / "docs" / "on-an-npu.md").read_text()
    assert shown(document) == known
    assert shown(document.replace("| 9.1 | 25.2, ", "| 9.1 | 25.0, 25.2, ")) != known
