"""Locks: what is read, and every way in which one is refused, with what and where."""

import hashlib
import re
import tomllib
from pathlib import Path

import pytest

from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, Kind, load_lock, lock_names
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError, UsageError
from npu_assay.project import ENVIRONMENTS, ROOT

SHA = "0" * 64
KINDS: tuple[Kind, ...] = ("emulated", "hardware")
REQUIREMENTS = "click==8.5.1 --hash=sha256:0\n"

GOOD = (
    f"""\
name = "small"
summary = "a small one"
python = "3.11.6"
disk_mib = 1

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
sha256 = {{ sdist = "{SHA}" }}
deviation = "because"
"""
    + "".join(
        f'''
[components.{name}]
version = "9.0.0"
build = "B250"
source = "run-packages"
file = "{name}-{{architecture}}.run"
sha256 = {{ aarch64 = "unverified" }}

[components.{name}.emulated]
version = "9.0.0"
build = "EMULATED"
source = "emulated"
'''
        for name in ("cann", "cann-ops", "nnal")
    )
)


IMAGE = f'image = {{ tag = "9.0.0-910b-ubuntu22.04-py3.11", digest = "sha256:{SHA}" }}\n'


def write(folder: Path, text: str) -> Path:
    (folder / "small.toml").write_text(text)
    (folder / "small.requirements.txt").write_text(REQUIREMENTS)
    return folder


def test_a_good_lock_is_read(tmp_path: Path) -> None:
    lock = load_lock("small", write(tmp_path, GOOD))
    assert lock.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert (lock.name, lock.python) == ("small", "3.11")


def test_a_lock_has_two_variants(tmp_path: Path) -> None:
    lock = load_lock("small", write(tmp_path, GOOD))
    emulated, hardware = Variant.of(lock, "emulated"), Variant.of(lock, "hardware")
    assert (emulated.provider, hardware.provider) == ("emulated", "host")
    assert emulated.deviations == {"vllm": "because"}
    assert (emulated.builds["cann"], hardware.builds["cann"]) == ("EMULATED", "B250")
    assert (emulated.unverified, hardware.unverified) == ((), ("cann", "cann-ops", "nnal"))
    assert emulated.requirement("torch", "x86_64") == f"torch==1.0 --hash=sha256:{SHA}"
    assert emulated.requirement("vllm", "aarch64") == f"vllm==2.0 --hash=sha256:{SHA}"


def test_a_component_may_be_absent_on_the_emulator(tmp_path: Path) -> None:
    text = (
        GOOD
        + f'''
[components.lmcache]
version = "1.0"
source = "index"
sha256 = {{ x86_64 = "{SHA}" }}
'''
    )
    lock = load_lock("small", write(tmp_path, text))
    assert "lmcache" in Variant.of(lock, "emulated").components
    lock = load_lock("small", write(tmp_path, text + '[components.lmcache.emulated]\nabsent = "CUDA"\n'))
    assert "lmcache" in Variant.of(lock, "hardware").components
    assert "lmcache" not in Variant.of(lock, "emulated").components
    assert Variant.of(lock, "emulated").deviations["lmcache"] == "Absent: CUDA"


def test_a_lock_for_hardware_only_says_why_there_is_no_emulated_variant(tmp_path: Path) -> None:
    text = re.sub(r"\n\[components\.[a-z-]+\.emulated\]\n(.+\n)+", "", GOOD)
    text = text.replace("\n[requirements]", 'hardware_only = "8.5.1 is not emulated"\n\n[requirements]')
    lock = load_lock("small", write(tmp_path, text))
    assert Variant.of(lock, "hardware").versions["cann"] == "9.0.0"
    with pytest.raises(UnusableError, match=r"small is for an NPU only: 8\.5\.1 is not emulated"):
        Variant.of(lock, "emulated")


def test_words_do_not_change_where_an_environment_is_and_pins_do(tmp_path: Path) -> None:
    key = Variant.of(load_lock("small", write(tmp_path, GOOD)), "emulated").key
    assert re.fullmatch(r"small-emulated-[0-9a-f]{16}", key)
    hardware = Variant.of(load_lock("small", tmp_path), "hardware").key
    words = GOOD.replace("because", "for another reason").replace(
        'aarch64 = "unverified', f'aarch64 = "{SHA}'
    )
    assert (
        Variant.of(load_lock("small", write(tmp_path, words.replace(f"{SHA}ified", SHA))), "emulated").key
        == key
    )
    imaged = GOOD.replace(
        'file = "cann-{architecture}.run"\n', f'file = "cann-{{architecture}}.run"\n{IMAGE}'
    )
    assert imaged != GOOD
    assert Variant.of(load_lock("small", write(tmp_path, imaged)), "hardware").key == hardware
    pins = GOOD.replace('version = "2.0"', 'version = "2.1"')
    assert Variant.of(load_lock("small", write(tmp_path, pins)), "emulated").key != key


@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ('python = "3.11.6"', "", ":1: python: Field required"),
        (
            'python = "3.11.6"',
            'python = "3.11.6"\npyhton = "3"',
            ":4: pyhton: Extra inputs are not permitted",
        ),
        ('python = "3.11.6"', "python = 3.11", ":3: python: Input should be a valid string"),
        ('python = "3.11.6"', 'python = "3.11"', ":3: python: String should match"),
        ('python = "3.11.6"', "python = ", "small.toml:3: not TOML: Invalid value"),
        ('python = "3.11.6"', 'python = """3', ":75: not TOML: Unterminated string"),
        ('python = "3.11.6"', f"python = {'[' * 5000}", "small.toml: not a lock: nested too deeply"),
        ("disk_mib = 1", "disk_mib = true", ":4: disk_mib: Input should be a valid integer"),
        ('version = "2.0"', 'version = "2.0; rm"', ":36: components.vllm.version: String should match"),
        ('build = "B250"', 'biuld = "B250"', ":43: components.cann.biuld: Extra inputs"),
        ('build = "EMULATED"', 'biuld = "EMULATED"', ":50: components.cann.emulated.biuld: Extra inputs"),
        (
            "[components.torchvision]",
            "[components.torch]",
            ":15: not TOML: Cannot declare ('components', 'torch') twice",
        ),
        ('name = "small"', 'name = "big"', ":1: name is 'big', expected the file's own, 'small'"),
        (SHA, "0" * 63, ":13: components.torch.sha256.x86_64: String should match"),
        (SHA, "verified", ":13: components.torch.sha256.x86_64: String should match"),
        ("x86_64", "x86", ":13: components.torch.sha256.x86: Input should be 'x86_64' or 'aarch64'"),
        (
            f'sha256 = {{ sdist = "{SHA}" }}\n',
            "",
            ":35: components.vllm: a component from index needs sha256",
        ),
        (
            "[components.vllm-ascend]",
            '[components.vllm-ascend]\nrebuilt = "module"',
            ":30: components.vllm-ascend: module is rebuilt from the sdist: sha256 needs sdist",
        ),
        (
            'file = "cann-{architecture}.run"\n',
            "",
            ":41: components.cann: a component from run-packages needs file",
        ),
        (
            'file = "cann-{architecture}.run"\n',
            'file = "cann-{architecture}.run"\nimage = { tag = "9.0.0", digest = "sha256:0" }\n',
            ":46: components.cann.image.digest: String should match",
        ),
        (
            'file = "nnal-{architecture}.run"\n',
            f'file = "nnal-{{architecture}}.run"\n{IMAGE}',
            "components.nnal.image: the vendor's image is named once, in components.cann",
        ),
        (
            'deviation = "because"\n',
            IMAGE,
            ":35: components.vllm: image: it has CANN's run packages",
        ),
        (
            'source = "emulated"',
            f'source = "index"\nsha256 = {{ x86_64 = "{SHA}" }}',
            "components.cann.emulated.source must be emulated, found 'index'",
        ),
        ('source = "run-packages"', 'source = "moon"', ":44: components.cann.source: Input should be"),
        (
            "[components.torch]",
            "[components.tensorflow]",
            ":10: components.tensorflow: unknown: tensorflow; there are torch, ",
        ),
        ("vllm]", "lmcache]", "components: missing: vllm"),
        (
            "small.requirements.txt",
            "../small.requirements.txt",
            ":7: requirements.file: must name a file in the lock's folder",
        ),
        ("small.requirements.txt", "other.txt", ":7: requirements.file names other.txt, which is not there"),
        ("small.requirements.txt", "..", ":7: requirements.file names .., which can't be read: Is a dir"),
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


def test_a_lock_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD) / "small.toml"
    load_lock("small", tmp_path)
    path.write_bytes(GOOD.encode() + b"\n# caf\xe9\n")
    with pytest.raises(UsageError, match=r"small\.toml:\d\d: not TOML: not UTF-8: invalid"):
        load_lock("small", tmp_path)
    path.unlink()
    path.symlink_to(path.name)
    with pytest.raises(UsageError, match=r"small\.toml: can't be read: Too many levels of symbolic links"):
        load_lock("small", tmp_path)


def test_an_architecture_without_a_hash_is_refused(tmp_path: Path) -> None:
    lock = load_lock("small", write(tmp_path, GOOD))
    with pytest.raises(UnusableError, match=r"components\.torch\.sha256 has no aarch64, only x86_64"):
        Variant.of(lock, "emulated").requirement("torch", "aarch64")


def test_an_unverified_hash_is_refused_with_how_to_record_one(tmp_path: Path) -> None:
    vendor = f'''[components.triton-ascend]
version = "1.0"
source = "vendor-index"
file = "triton_ascend-1.0-py3-none-any.whl"
sha256 = {{ x86_64 = "{SHA}", aarch64 = "unverified" }}

[components.triton-ascend.emulated]'''
    lock = load_lock("small", write(tmp_path, GOOD.replace("[components.triton-ascend]", vendor)))
    variant = Variant.of(lock, "hardware")
    assert variant.requirement("triton-ascend", "x86_64") == f"triton-ascend==1.0 --hash=sha256:{SHA}"
    with pytest.raises(
        UnusableError, match=r"unverified for aarch64; .* npu-assay env lock small --record FILE"
    ):
        variant.requirement("triton-ascend", "aarch64")


def test_an_unknown_environment_is_refused_with_those_there_are(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    with pytest.raises(UsageError, match="no environment 'smal'; there is small in"):
        load_lock("smal", tmp_path)


@pytest.mark.parametrize("name", lock_names())
def test_every_lock_of_ours_covers_both_architectures(name: str) -> None:
    lock = load_lock(name)
    for kind in KINDS:
        if kind == "emulated" and lock.content.hardware_only:
            continue
        variant = Variant.of(lock, kind)
        for component, pin in variant.components.items():
            if pin.source == "index":
                for architecture in ("x86_64", "aarch64"):
                    assert variant.requirement(component, architecture)


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
