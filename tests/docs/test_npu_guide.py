"""docs/on-an-npu.md shows the vendor's table of drivers and the locks as npu-assay has them."""

import tomllib

from markdown_parts import Row, code_spans, rows

from npu_assay.environment.lock import load_lock
from npu_assay.environment.obstacles import obstacles
from npu_assay.environment.variant import Variant
from npu_assay.project import ENVIRONMENTS, PIPELINES, ROOT

DOCUMENT = (ROOT / "docs" / "on-an-npu.md").read_text()
DRIVERS, LOCKS = "Driver and firmware", "Python and the environment"


def shown(document: str) -> dict[str, list[str]]:
    """Series of CANN -> drivers, of the table in a document."""
    return {
        row.cells[0]: [driver.strip() for driver in row.cells[1].split(",")]
        for row in rows(document)
        if row.heading == DRIVERS
    }


def test_the_table_is_that_of_the_source() -> None:
    source = tomllib.loads((ROOT / "src" / "npu_assay" / "cann" / "drivers.toml").read_text())
    known = {row["series"]: row["drivers"] for row in source["cann"]}
    assert shown(DOCUMENT) == known
    assert shown(DOCUMENT.replace("| 9.1 | 25.2, ", "| 9.1 | 25.0, 25.2, ")) != known


def unlike(row: Row) -> str | None:
    """What a row about an environment does not say as its lock does; None when it does."""
    name, pipelines, vllm_ascend, in_the_way = row.cells
    lock = load_lock(name.strip("`"))
    variant = Variant.of(lock, "hardware")
    able = lock.content.pipelines or [path.stem for path in PIPELINES.glob("*.toml")]
    if sorted(code_spans(pipelines)) != sorted(able):
        return f"{name}: pipelines are {able}"
    compiles = {variant.compiles("vllm-ascend", machine) for machine in ("x86_64", "aarch64")}
    if compiles != {vllm_ascend == "compiled"}:
        return f"{name}: compiled is {compiles}"
    for machine in ("x86_64", "aarch64"):
        named = in_the_way.startswith(f"{machine}: ") or ": " not in in_the_way
        found = [obstacle.partition(":")[0] for obstacle in obstacles(variant, machine)]
        if found != [one for one in ("triton-ascend", "lmcache-ascend") if named and one in in_the_way]:
            return f"{name}: in the way on {machine} is {found}"
    return None


def test_what_is_said_of_the_environments_is_what_their_locks_say() -> None:
    table = [row for row in rows(DOCUMENT) if row.heading == LOCKS]
    names = [code_spans(row.cells[0])[0] for row in table]
    assert sorted(names) == sorted(path.stem for path in ENVIRONMENTS.glob("*.toml"))
    assert [problem for row in table if (problem := unlike(row))] == []
    for number, wrong in ((1, "`cured`"), (2, "no wheel"), (3, "x86_64: lmcache-ascend")):
        cells = [wrong if place == number else cell for place, cell in enumerate(table[0].cells)]
        assert unlike(Row(LOCKS, tuple(cells))) is not None
