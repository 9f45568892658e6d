"""Tests of an xdist_group in one worker: pytest-xdist 3.8 writes the group where pytest 9.2 reads nothing."""

from collections.abc import Sequence

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Give every item the id that xdist has put into `_nodeid`: `<id>@<group>`, by which it schedules.

    Without it, what the tests of a group share (a run, an installation) is made once a worker.
    """
    for item in items:
        if (grouped := vars(item).get("_nodeid")) is not None:
            item._id = type(item.id).parse(grouped)  # type: ignore[attr-defined]
