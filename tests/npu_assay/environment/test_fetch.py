"""Fetching with pip from an index on the loopback interface, and installing from what was fetched."""

import json
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from index import Index, sdist, serving, sha256, wheel
from planted_source import checkout, git

from npu_assay.environment.environment import Environment
from npu_assay.environment.fetch import Gathered, fetch, platforms
from npu_assay.environment.fetched import LAUNCHER, LISTING, read_fetched, require_fetched
from npu_assay.environment.installed import installed
from npu_assay.environment.lock import Lock, load_lock
from npu_assay.environment.pip import pip_install
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError, UsageError

HERE = platform.machine()
THERE = "aarch64" if HERE == "x86_64" else "x86_64"

PER_ARCHITECTURE = {
    architecture: wheel("torch", "1.0", f"cp311-cp311-manylinux_2_28_{architecture}")
    for architecture in (HERE, THERE)
}
ANY = [wheel(name, "1.0") for name in ("torchvision", "torch-npu", "triton-ascend", "vllm-ascend")]
SOURCE = sdist("vllm", "1.0")
DEPENDENCY = wheel("dependency", "2.0")
FILES = dict([*PER_ARCHITECTURE.values(), *ANY, SOURCE, DEPENDENCY])
#: What the launcher installs, with a wheel for each architecture as requirements have them.
LAUNCHERS = {
    architecture: wheel("speedups", "3.0", f"cp311-cp311-manylinux_2_17_{architecture}", content=architecture)
    for architecture in (HERE, THERE)
}
#: What a newer index would offer as well: never taken.
NEWER = dict([wheel("torch", "2.0"), wheel("dependency", "3.0"), wheel("vllm", "1.0", content="no sdist")])
ALL = {name for name in FILES if name != PER_ARCHITECTURE[THERE][0]}


def write_lock(folder: Path, **changed: str) -> Lock:
    """A lock of these files; `changed` are other hashes, by name."""
    folder.mkdir(exist_ok=True)
    requirements = f"dependency==2.0 \\\n    --hash=sha256:{sha256(DEPENDENCY[1])}\n"
    (folder / "small.requirements.txt").write_text(requirements)
    hashes = {
        "torch": ", ".join(f'{arch} = "{sha256(file[1])}"' for arch, file in PER_ARCHITECTURE.items()),
        "vllm": f'sdist = "{sha256(SOURCE[1])}"',
        **{
            file[0]
            .split("-")[0]
            .replace("_", "-"): f'{HERE} = "{sha256(file[1])}", {THERE} = "{sha256(file[1])}"'
            for file in ANY
        },
        **changed,
    }
    text = 'name = "small"\nsummary = "a small one"\npython = "3.11.6"\ndisk_mib = 1\n\n[requirements]\n'
    text += f'file = "small.requirements.txt"\nsha256 = "{sha256(requirements.encode())}"\n'
    for name, values in hashes.items():
        text += f'\n[components.{name}]\nversion = "1.0"\nsource = "index"\nsha256 = {{ {values} }}\n'
    for name in ("cann", "cann-ops", "nnal"):
        text += f'\n[components.{name}]\nversion = "9.0.0"\nsource = "run-packages"\n'
        text += f'file = "{name}_{{architecture}}.run"\n'
        text += f'sha256 = {{ {HERE} = "unverified" }}\n'
        text += f'\n[components.{name}.emulated]\nversion = "9.0.0"\nsource = "emulated"\n'
    (folder / "small.toml").write_text(text)
    return load_lock("small", folder)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """A good index, which the user's pip is set to by a variable; no other setting of this machine counts."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in (
        "PIP_FIND_LINKS",
        "PIP_NO_INDEX",
        "PIP_EXTRA_INDEX_URL",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
    ):
        monkeypatch.delenv(name, raising=False)
    with serving(FILES | NEWER | dict(LAUNCHERS.values())) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        yield index


@pytest.fixture
def variant(tmp_path: Path) -> Variant:
    return Variant.of(write_lock(tmp_path / "its locks"), "emulated")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "to be carried"


@pytest.fixture
def full(folder: Path) -> Path:
    """The folder with every file of this architecture in it already, as if copied there, without a list."""
    (folder / LAUNCHER).mkdir(parents=True)
    for name in ALL:
        (folder / name).write_bytes(FILES[name])
    name, content = LAUNCHERS[HERE]
    (folder / LAUNCHER / name).write_bytes(content)
    return folder


def gather(variant: Variant, folder: Path, architecture: str = HERE) -> Gathered:
    hashes = "".join(f" --hash=sha256:{sha256(content)}" for _, content in LAUNCHERS.values())
    launcher = variant.lock.path.parent / "launcher.requirements.txt"
    launcher.write_text(f"speedups==3.0{hashes}\n")
    return fetch(variant, folder, architecture, lambda line: None, launcher)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")}


def test_every_file_of_the_lock_is_fetched_once_and_nothing_is_run(
    index: Index, variant: Variant, folder: Path
) -> None:
    gathered = gather(variant, folder)
    assert names(folder) == {*ALL, LISTING}
    assert names(folder / LAUNCHER) == {LAUNCHERS[HERE][0], LISTING}
    assert (gathered.downloaded, gathered.by_hand) == (len(ALL) + 1, ())
    listing = json.loads((folder / LISTING).read_text())
    assert [(row["file"], row["sha256"]) for row in listing["files"]] == sorted(
        (name, sha256(FILES[name])) for name in ALL
    )
    assert {row["component"] for row in listing["files"]} >= {"torch", "vllm", "dependency"}
    require_fetched(variant, folder)

    index.asked.clear()
    assert gather(variant, folder).downloaded == 0
    assert index.asked == []


def test_the_other_architecture_is_fetched_on_this_one(index: Index, variant: Variant, full: Path) -> None:
    (full / PER_ARCHITECTURE[HERE][0]).unlink()
    assert gather(variant, full, THERE).downloaded == 2
    assert index.downloads() == sorted((LAUNCHERS[THERE][0], PER_ARCHITECTURE[THERE][0]))
    with pytest.raises(
        UnusableError, match=r"1 of 7 files of small are not there: torch 1\.0; type: npu-assay"
    ):
        require_fetched(variant, full)
    gather(variant, full)
    require_fetched(variant, full)
    assert names(full) == {*FILES, LISTING}, "one folder can serve both"
    assert names(full / LAUNCHER) == {*dict(LAUNCHERS.values()), LISTING}


def test_a_requirement_is_there_only_for_an_architecture_that_its_wheel_is_for(
    index: Index, tmp_path: Path, folder: Path
) -> None:
    lock = write_lock(tmp_path / "its locks")
    hashes = "".join(f" --hash=sha256:{sha256(content)}" for _, content in LAUNCHERS.values())
    text = f"speedups==3.0{hashes}\n"
    known = sha256(lock.requirements_file.read_bytes())
    lock.requirements_file.write_text(text)
    lock.path.write_text(lock.path.read_text().replace(known, sha256(text.encode())))
    variant = Variant.of(load_lock("small", lock.path.parent), "emulated")
    gather(variant, folder, THERE)
    assert LAUNCHERS[THERE][0] in names(folder)
    with pytest.raises(UnusableError, match=r"2 of 7 files of small are not there: speedups 3\.0, torch"):
        require_fetched(variant, folder)
    gather(variant, folder)
    require_fetched(variant, folder)
    assert names(folder) >= {name for name, _ in LAUNCHERS.values()}


@pytest.mark.parametrize("damage", ["gone", "damaged", "half"])
def test_what_is_not_whole_is_fetched_again_alone(
    index: Index, variant: Variant, full: Path, damage: str
) -> None:
    assert gather(variant, full).downloaded == 0
    file = full / SOURCE[0]
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(SOURCE[1][:-1] if damage == "half" else b"x" * len(SOURCE[1]))
    index.asked.clear()
    assert gather(variant, full).downloaded == 1
    assert index.downloads() == [SOURCE[0]]
    assert file.read_bytes() == SOURCE[1]
    require_fetched(variant, full)


def test_an_interrupted_fetch_goes_on_and_leaves_nothing_half_written(
    index: Index, variant: Variant, folder: Path
) -> None:
    gone = index.files.pop(SOURCE[0])
    with pytest.raises(UnusableError, match=r"fetching vllm 1\.0 \(source\): pip download failed \(1\): "):
        gather(variant, folder)
    assert names(folder) >= {DEPENDENCY[0], PER_ARCHITECTURE[HERE][0], LISTING}
    assert {file.file for file in read_fetched(folder).files} == names(folder) - {LISTING}
    (folder / ".part").mkdir()
    (folder / ".part" / "left.whl").write_text("half")
    index.files[SOURCE[0]] = gone
    index.asked.clear()
    gather(variant, folder)
    assert DEPENDENCY[0] not in index.downloads()
    assert names(folder) == {*ALL, LISTING}
    assert not (folder / ".part").exists()


def test_a_file_with_another_hash_is_not_taken(index: Index, tmp_path: Path, folder: Path) -> None:
    lock = write_lock(tmp_path / "its locks", **{"torch-npu": f'{HERE} = "{"0" * 64}"'})
    with pytest.raises(UnusableError, match=r"fetching torch-npu 1\.0: pip download failed"):
        gather(Variant.of(lock, "emulated"), folder)
    assert "torch_npu-1.0-py3-none-any.whl" not in names(folder)


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"PIP_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}, r"can't reach its index: ProxyError\("),
        (
            {"PIP_INDEX_URL": "https://127.0.0.1:9/simple", "PIP_CERT": "/nowhere.pem"},
            "invalid path: /nowhere",
        ),
        ({"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}, r"can't reach its index: NewConnectionError\("),
    ],
)
def test_an_index_that_cant_be_reached_is_one_clear_line(
    index: Index,
    variant: Variant,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    says: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UnusableError, match=says) as raised:
        gather(variant, folder)
    assert "\n" not in str(raised.value)
    assert "fetching 1 requirements: pip download failed" in str(raised.value)


def test_a_full_disk_is_told_before_anything_is_fetched(index: Index, tmp_path: Path, folder: Path) -> None:
    text = (tmp_path / "its locks").joinpath
    write_lock(tmp_path / "its locks")
    path = text("small.toml")
    path.write_text(path.read_text().replace("disk_mib = 1\n", "disk_mib = 1000000000\n"))
    variant = Variant.of(load_lock("small", tmp_path / "its locks"), "emulated")
    with pytest.raises(UnusableError, match=r"MiB free, fetching small needs 1000000000 MiB; make room"):
        gather(variant, folder)
    assert index.asked == []


def test_what_no_index_has_is_to_be_put_there_by_hand(index: Index, tmp_path: Path, full: Path) -> None:
    lock = write_lock(tmp_path / "its locks")
    gathered = gather(Variant.of(lock, "hardware"), full)
    assert [(item.component, item.what, item.sha256) for item in gathered.by_hand] == [
        (name, f"{name}_{HERE}.run", "unverified") for name in ("cann", "cann-ops", "nnal")
    ]
    (full / f"nnal_{HERE}.run").write_text("run me")
    lock.path.write_text(
        lock.path.read_text().replace(
            f'file = "nnal_{{architecture}}.run"\nsha256 = {{ {HERE} = "unverified" }}',
            f'file = "nnal_{{architecture}}.run"\nsha256 = {{ {HERE} = "{sha256(b"run me")}" }}',
        )
    )
    variant = Variant.of(load_lock("small", lock.path.parent), "hardware")
    assert [item.component for item in gather(variant, full).by_hand] == ["cann", "cann-ops"]
    assert read_fetched(full).of([sha256(b"run me")], HERE) is not None
    (full / f"nnal_{HERE}.run").write_text("another build")
    with pytest.raises(UnusableError, match=f"sha256 {sha256(b'another build')}, the lock says"):
        gather(variant, full)


def test_what_is_built_from_git_is_fetched_with_git(index: Index, tmp_path: Path, full: Path) -> None:
    upstream = checkout(tmp_path / "upstream")
    lock = write_lock(tmp_path / "its locks")

    def gathered(commit_id: str) -> list[str]:
        text = lock.path.read_text()
        start = text.index("[components.vllm-ascend]")
        end = text.index("[components.cann]")
        component = '[components.vllm-ascend]\nversion = "1.0"\nsource = "git"\n'
        component += f'repository = "file://{upstream}"\ncommit = "{commit_id}"\n\n'
        component += text[start:end].replace("vllm-ascend]", "vllm-ascend.emulated]")
        (tmp_path / "git").mkdir(exist_ok=True)
        shutil.copy(lock.requirements_file, tmp_path / "git")
        (tmp_path / "git" / "small.toml").write_text(text[:start] + component + text[end:])
        variant = Variant.of(load_lock("small", tmp_path / "git"), "hardware")
        return [item.what for item in gather(variant, full).by_hand if item.component == "vllm-ascend"]

    assert gathered(git(upstream, "rev-parse", "HEAD")) == []
    assert [path.suffix for path in (full / "repositories").iterdir() if path.is_dir()] == [".git"]
    assert gathered("0" * 40) == [f"file://{upstream} at {'0' * 40}"]


def test_what_only_the_vendors_index_has_is_fetched_there_or_put_by_hand(
    index: Index, tmp_path: Path, full: Path
) -> None:
    lock = write_lock(tmp_path / "its locks")
    source = '[components.triton-ascend]\nversion = "1.0"\nsource = "index"'
    file = "triton_ascend-1.0-py3-none-any.whl"
    vendors = source.replace("index", f'vendor-index"\nfile = "{file}')
    emulated = '\n[components.triton-ascend.emulated]\nversion = "1.0"\nsource = "index"\n'
    emulated += f'sha256 = {{ {HERE} = "{"0" * 64}" }}\n'
    lock.path.write_text(lock.path.read_text().replace(source, vendors) + emulated)
    variant = Variant.of(load_lock("small", lock.path.parent), "hardware")
    content = (full / file).read_bytes()
    (full / file).unlink()
    assert "triton-ascend" not in [item.component for item in gather(variant, full).by_hand]
    (full / file).unlink()
    del index.files[file]
    [item, *_] = gather(variant, full).by_hand
    assert (item.component, item.what, item.sha256) == ("triton-ascend", file, sha256(content))
    (full / file).write_bytes(content)
    assert "triton-ascend" not in [item.component for item in gather(variant, full).by_hand]


@pytest.mark.parametrize("rebuilt", ["", 'rebuilt = "vllm_ascend_C"'], ids=["wheel", "rebuilt"])
def test_a_run_needs_the_source_of_vllm_ascend_too(
    index: Index, tmp_path: Path, full: Path, rebuilt: str
) -> None:
    name, content = sdist("vllm-ascend", "1.0")
    both = f'{HERE} = "{sha256(dict(ANY)["vllm_ascend-1.0-py3-none-any.whl"])}", sdist = "{sha256(content)}"'
    lock = write_lock(tmp_path / "its locks", **{"vllm-ascend": f"{both} }}\n{rebuilt} # {{"})
    variant = Variant.of(lock, "emulated")
    index.files[name] = content
    assert gather(variant, full).downloaded == 1
    assert index.downloads() == [name]
    require_fetched(variant, full)


def test_a_folder_that_is_no_fetched_one_is_refused(variant: Variant, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"fetched\.json: No such file.*npu-assay env fetch NAME --to DIR"):
        require_fetched(variant, tmp_path)
    (tmp_path / LISTING).write_text('{"schema_version": 1, "filse": []}')
    with pytest.raises(UsageError, match=r"fetched\.json: filse: Extra inputs are not permitted"):
        require_fetched(variant, tmp_path)


def test_pip_installs_from_the_folder_without_any_index(
    index: Index,
    variant: Variant,
    full: Path,
    with_venv: Environment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gather(variant, full)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    index.asked.clear()
    line = variant.requirement("torchvision", HERE)
    with pytest.raises(UnusableError, match="can't reach its index"):
        pip_install(with_venv, "torch", [line], "--target", str(full.parent / "online"))
    offline = Environment(with_venv.variant, with_venv.root, with_venv.cache, fetched=full)
    target = full.parent / "offline"
    pip_install(offline, "torch", [line], "--target", str(target))
    assert installed(target)["torchvision"].version == "1.0"
    assert index.asked == []


def test_wheels_for_an_older_c_library_will_do_and_for_a_newer_one_will_not() -> None:
    tags = platforms(THERE)
    assert tags[0] == f"manylinux_2_35_{THERE}"
    assert f"manylinux2014_{THERE}" in tags
    assert f"manylinux_2_17_{THERE}" in tags
    assert f"manylinux_2_36_{THERE}" not in tags
    assert "manylinux1_aarch64" not in platforms("aarch64")
    assert "manylinux1_x86_64" in platforms("x86_64")
