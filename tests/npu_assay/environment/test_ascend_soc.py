"""SOC_VERSION: what a tree's setup.py takes, and what to build for."""

from pathlib import Path

import pytest

from npu_assay.environment.ascend_build.soc import KnownSocs, choose_soc, read_known_socs
from npu_assay.errors import UnusableError

SETUP = """\
import missing  # nothing of this is run
raise SystemExit

def build_info():
    soc_version = envs.SOC_VERSION
    soc_to_device = {
        "910b": "A2",
        "910c": "A3",
        "ascend910b1": "A2",
        "ascend910b3": "A2",
        "ascend910_9391": "A3",
        "ascend310p3": "_310P",
    }
    if "ascend950" in soc_version:
        device_type = "A5"
    else:
        device_type = soc_to_device[soc_version]
"""


@pytest.fixture
def known(tmp_path: Path) -> KnownSocs:
    """The set of a tree like upstream's."""
    (tmp_path / "setup.py").write_text(SETUP)
    return read_known_socs(tmp_path)


def test_the_set_is_that_of_the_tree(known: KnownSocs, tmp_path: Path) -> None:
    types = {name: known.device_type(name) for name in (*known.exact, "ascend950pr_9579", "ascend910b")}
    assert types == {
        "910b": "A2",
        "910c": "A3",
        "ascend910b1": "A2",
        "ascend910b3": "A2",
        "ascend910_9391": "A3",
        "ascend310p3": "_310P",
        "ascend950pr_9579": "A5",
        "ascend910b": None,
    }
    (tmp_path / "setup.py").write_text(SETUP.replace("ascend910b3", "ascend910b9"))
    assert read_known_socs(tmp_path).device_type("ascend910b3") is None


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        (SETUP.replace("soc_to_device", "chips"), "no dictionary soc_to_device"),
        (SETUP.replace("{", "dict({").replace("}", "})"), "no dictionary soc_to_device"),
        ("def (", r"can't be read as Python .*is this vllm-ascend\?"),
        (None, "can't be read as Python"),
    ],
)
def test_a_setup_of_another_form_is_told(tmp_path: Path, setup: str | None, says: str) -> None:
    path = tmp_path / "setup.py"
    path.write_text(SETUP)
    assert read_known_socs(tmp_path).exact
    path.unlink() if setup is None else path.write_text(setup)
    with pytest.raises(UnusableError, match=says) as raised:
        read_known_socs(tmp_path)
    assert str(path) in str(raised.value)


def test_a_new_device_type_is_not_taken_for_a_known_one(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(SETUP.replace('"_310P"', '"_310Q"'))
    known = read_known_socs(tmp_path)
    assert known.device_type("ascend910b3") == "A2"
    with pytest.raises(UnusableError, match="ascend310p3 is of the device type '_310Q'"):
        known.device_type("ascend310p3")


@pytest.mark.parametrize(
    ("found", "asked", "chosen"),
    [
        ("ascend910b3", None, "ascend910b3"),
        ("ascend910b3", "ascend910b3", "ascend910b3"),
        ("ascend910b3", "910b", "ascend910b3"),
        (None, "910b", "910b"),
        (None, "ascend910_9391", "ascend910_9391"),
        ("ascend950pr_9579", None, "ascend950pr_9579"),
    ],
)
def test_it_is_built_for_the_die_that_is_there(
    known: KnownSocs, found: str | None, asked: str | None, chosen: str
) -> None:
    soc = choose_soc(known, found, asked)
    assert soc.name == chosen
    assert soc.device_type == known.device_type(chosen)


@pytest.mark.parametrize(
    ("found", "asked", "says"),
    [
        (None, None, ["not known", "--soc-version", "SOC_VERSION", "ascend910b3"]),
        # A card of 32 GB that calls itself 910B, whose soc_version is 104 (vllm-ascend#6796, #10206).
        ("ascend910b", None, ["'ascend910b'", "setup.py", "ascend910b3"]),
        ("ascend910b", "ascend910b3", ["the NPU found is 'ascend910b'"]),
        (None, "Ascend910B3", ["SOC_VERSION is 'Ascend910B3'", "ascend910b3"]),
        (None, "ascend910c", ["SOC_VERSION is 'ascend910c'", "910c"]),
        ("ascend910b3", "ascend910b1", ["ascend910b1", "found is ascend910b3", "unset SOC_VERSION"]),
        ("ascend910b3", "910c", ["910c", "found is ascend910b3"]),
    ],
)
def test_what_can_not_be_built_for_is_refused_in_one_line(
    known: KnownSocs, found: str | None, asked: str | None, says: list[str]
) -> None:
    assert choose_soc(known, "ascend910b3", None).name == "ascend910b3"
    with pytest.raises(UnusableError) as raised:
        choose_soc(known, found, asked)
    message = str(raised.value)
    assert "\n" not in message
    for part in says:
        assert part in message
