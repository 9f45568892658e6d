"""Locks: what is read, and every way in which one is refused, with what and where."""

import hashlib
import re
import tomllib
from pathlib import Path

import pytest

from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock, lock_names
from npu_assay.errors import UsageError
from npu_assay.project import ENVIRONMENTS, ROOT

SHA = "0" * 64
REQUIREMENTS = "click==8.5.1 --hash=sha256:0\n"

GOOD = (
    f"""\
name = "small"
summary = "a small one"
python = "3.11"

[requirements]
file = "small.requirements.txt"
sha256 = "{hashlib.sha256(REQUIREMENTS.encode()).hexdigest()}"
"""
    + "".join(
        f'\n[components.{name}]\nversion = "1.0"\nsource = "index"\nsha256 = {{ x86_64 = "{SHA}" }}\n'
        for name in ("torch", "torchvision", "torch-npu", "triton-ascend", "vllm-ascend")
    )
    + f"""
[components.vllm]
version = "2.0"
source = "index"
sha256 = {{ any = "{SHA}" }}
deviation = "because"

[components.cann]
version = "9.0.0"
build = "EMULATED"
source = "emulated"

[components.nnal]
version = "9.0.0"
source = "emulated"
"""
)


def write(folder: Path, text: str) -> Path:
    (folder / "small.toml").write_text(text)
    (folder / "small.requirements.txt").write_text(REQUIREMENTS)
    return folder


def test_a_good_lock_is_read(tmp_path: Path) -> None:
    lock = load_lock("small", write(tmp_path, GOOD))
    assert lock.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert lock.key == f"small-{lock.sha256[:16]}"
    assert lock.provider == "emulated"
    assert lock.deviations == {"vllm": "because"}
    assert lock.component("cann").build == "EMULATED"
    assert lock.requirement("torch", "x86_64") == f"torch==1.0 --hash=sha256:{SHA}"
    assert lock.requirement("vllm", "aarch64") == f"vllm==2.0 --hash=sha256:{SHA}"


@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ('python = "3.11"', "", "python: Field required"),
        ('python = "3.11"', 'python = "3.11"\npyhton = "3.11"', "pyhton: Extra inputs are not permitted"),
        ('python = "3.11"', "python = 3.11", "python: Input should be a valid string"),
        ('python = "3.11"', "python = ", "not TOML"),
        ('build = "EMULATED"', 'biuld = "EMULATED"', "components.cann.biuld: Extra inputs"),
        ('name = "small"', 'name = "big"', "name is 'big', expected the file's own, 'small'"),
        (SHA, "0" * 63, "sha256.x86_64: String should match"),
        ("x86_64", "x86", "components.torch.sha256.x86"),
        (
            f'sha256 = {{ any = "{SHA}" }}\n',
            "",
            "components.vllm: Value error, a component from the index needs",
        ),
        ('source = "emulated"', 'source = "index"', "components.cann"),
        ('source = "emulated"', 'source = "moon"', "components.cann.source: Input should be"),
        ("[components.torch]", "[components.tensorflow]", "see tensorflow, torch"),
        ("small.requirements.txt", "../small.requirements.txt", "must name a file in the lock's folder"),
        ("small.requirements.txt", "other.txt", "requirements.file names other.txt, which is not there"),
    ],
)
def test_a_bad_lock_is_refused_with_what_and_where(tmp_path: Path, good: str, bad: str, says: str) -> None:
    assert good in GOOD
    with pytest.raises(UsageError, match=re.escape(says)) as raised:
        load_lock("small", write(tmp_path, GOOD.replace(good, bad)))
    assert str(tmp_path / "small.toml") in str(raised.value)
    assert "\n" not in str(raised.value)


def test_changed_requirements_make_the_lock_stale(tmp_path: Path) -> None:
    load_lock("small", write(tmp_path, GOOD))
    (tmp_path / "small.requirements.txt").write_text(REQUIREMENTS + "more==1\n")
    with pytest.raises(
        UsageError, match=r"requirements\.sha256 is stale: small\.requirements\.txt is [0-9a-f]{64}"
    ):
        load_lock("small", tmp_path)


def test_an_architecture_without_a_hash_is_refused(tmp_path: Path) -> None:
    lock = load_lock("small", write(tmp_path, GOOD))
    with pytest.raises(UsageError, match=r"components\.torch\.sha256 has no aarch64, only x86_64"):
        lock.requirement("torch", "aarch64")


def test_an_unknown_environment_is_refused_with_those_there_are(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    with pytest.raises(UsageError, match="no environment 'smal'; there is small in"):
        load_lock("smal", tmp_path)


@pytest.mark.parametrize("name", lock_names())
def test_every_lock_of_ours_covers_both_architectures(name: str) -> None:
    lock = load_lock(name)
    for component, pin in lock.content.components.items():
        if pin.source == "index":
            for architecture in ("x86_64", "aarch64"):
                assert lock.requirement(component, architecture)


def test_the_default_environment_is_there() -> None:
    assert DEFAULT_ENVIRONMENT in lock_names()


def _pins(requirements: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", requirements.read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", sorted([*ROOT.glob("requirements*.txt"), *ENVIRONMENTS.glob("*.txt")]))
def test_every_requirement_has_a_version_and_hashes(path: Path) -> None:
    entries = re.split(r"^(?=[a-z])", path.read_text(), flags=re.MULTILINE)[1:]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==\S+ \\\n    --hash=sha256:[0-9a-f]{64}", entry), entry.splitlines()[0]


def test_suites_use_the_tools_that_our_own_tests_use() -> None:
    ours, theirs = _pins(ROOT / "requirements-test.txt"), _pins(load_lock().requirements_file)
    assert {tool: theirs[tool] for tool in ("pytest", "ruff")} == {
        tool: ours[tool] for tool in ("pytest", "ruff")
    }


def test_the_locked_requirements_are_those_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    locked = _pins(ROOT / "requirements.txt") | _pins(ROOT / "requirements-test.txt")
    groups = project["dependency-groups"]
    for requirement in [*project["project"]["dependencies"], *groups["build"], *groups["test"]]:
        assert re.match(r"[A-Za-z0-9-]+", requirement)[0].lower() in locked, f"{requirement}: run ci/lock"
