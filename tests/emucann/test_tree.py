"""The emulated tree's own files: scripts that are sourced, and what they say the tree is."""

import shutil
import subprocess
from pathlib import Path

import pytest

LAYOUT = Path(__file__).parents[2] / "src" / "emucann" / "tree" / "layout.cmake"
SHELLS = [shell for shell in ("bash", "sh", "dash", "zsh") if shutil.which(shell)]
PATH = "/usr/bin:/bin"


def write_tree(prefix: Path, arch: str = "x86_64", **missing: str) -> "subprocess.CompletedProcess[str]":
    values = {
        "CMAKE_INSTALL_PREFIX": str(prefix),
        "EMUCANN_LAYOUT_VERSION": "9.0.0",
        "EMUCANN_DRIVER_VERSION": "25.5.1+emulated",
        "EMUCANN_ARCH": arch,
    } | missing
    definitions = [f"-D{name}={value}" for name, value in values.items()]
    return subprocess.run(["cmake", *definitions, "-P", str(LAYOUT)], capture_output=True, text=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The tree, moved after it was made: nothing but ascend_toolkit_install.info may know where it was."""
    made = write_tree(tmp_path / "made")
    assert made.returncode == 0, made.stderr
    return (tmp_path / "made").rename(tmp_path / "Ascend with a space")


def source(
    shell: str, script: Path, *more: str, cwd: Path | None = None, **environment: str
) -> dict[str, str]:
    """The environment after sourcing script with `set -eu` in shell, as that shell's child sees it."""
    text = f'set -eu\n. "{script}" {" ".join(more)}\nenv -0\n'
    result = subprocess.run(
        [shell, "-c", text], env={"PATH": PATH} | environment, cwd=cwd, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    seen = dict(entry.split("=", 1) for entry in result.stdout.split("\0") if entry)
    return {name: value for name, value in seen.items() if name not in ("OLDPWD", "SHLVL", "_")}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("script", ["cann-9.0.0/set_env.sh", "cann/set_env.sh", "ascend-toolkit/set_env.sh"])
def test_cann_set_env(tree: Path, shell: str, script: str) -> None:
    cann = str(tree / "cann-9.0.0")
    without = source(shell, Path("/dev/null"))
    seen = source(shell, tree / script)
    assert {name: value for name, value in seen.items() if without.get(name) != value} == {
        "ASCEND_TOOLKIT_HOME": cann,
        "ASCEND_HOME_PATH": cann,
        "ASCEND_OPP_PATH": f"{cann}/opp",
        "ASCEND_AICPU_PATH": cann,
        "LD_LIBRARY_PATH": f"{cann}/x86_64-linux/lib64:{tree}/driver/lib64/driver",
        "PYTHONPATH": f"{cann}/python/site-packages",
        "PATH": f"{tree}/driver/tools:{PATH}",
    }


@pytest.mark.parametrize("shell", SHELLS)
def test_lists_keep_what_was_there_and_do_not_grow(tree: Path, shell: str) -> None:
    script = tree / "ascend-toolkit" / "set_env.sh"
    once = source(shell, script, LD_LIBRARY_PATH="/own", PYTHONPATH="/mine")
    assert once["LD_LIBRARY_PATH"].endswith("/driver/lib64/driver:/own")
    assert once["PYTHONPATH"].endswith("/site-packages:/mine")
    again = source(shell, script, **{name: once[name] for name in ("LD_LIBRARY_PATH", "PYTHONPATH", "PATH")})
    for name in ("LD_LIBRARY_PATH", "PYTHONPATH", "PATH"):
        assert again[name] == once[name]
        assert "" not in again[name].split(":"), "an empty element is the current folder"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_relative_path_and_a_subshell_will_do(tree: Path, shell: str) -> None:
    expected = str(tree / "cann-9.0.0")
    assert source(shell, Path("./cann/set_env.sh"), cwd=tree)["ASCEND_HOME_PATH"] == expected
    text = 'set -eu; (. ./cann/set_env.sh; printf %s "$ASCEND_HOME_PATH")'
    result = subprocess.run(
        [shell, "-c", text], env={"PATH": PATH, "CDPATH": "/"}, cwd=tree, capture_output=True
    )
    assert result.stdout.decode() == expected


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("script", ["nnal/set_env.sh", "nnal/atb/set_env.sh"])
def test_atb_set_env(tree: Path, shell: str, script: str) -> None:
    home = f"{tree}/nnal/atb/latest/atb/cxx_abi_1"
    seen = source(shell, tree / script, LD_LIBRARY_PATH="/own")
    assert seen["ATB_HOME_PATH"] == home
    assert seen["LD_LIBRARY_PATH"] == f"{home}/lib:/own"


@pytest.mark.parametrize(
    ("flag", "abi"), [("_GLIBCXX_USE_CXX11_ABI=1", "1"), ("_GLIBCXX_USE_CXX11_ABI=0", "0")]
)
def test_atb_follows_the_installed_torch(tree: Path, tmp_path: Path, flag: str, abi: str) -> None:
    config = tmp_path / "site" / "torch" / "share" / "cmake" / "Torch" / "TorchConfig.cmake"
    config.parent.mkdir(parents=True)
    config.write_text(f'set(TORCH_CXX_FLAGS "-D{flag}")\n')
    (tmp_path / "site" / "torch" / "__init__.py").write_text("raise SystemExit('must not be imported')\n")
    seen = source("bash", tree / "nnal" / "atb" / "set_env.sh", PYTHONPATH=str(tmp_path / "site"))
    assert seen["ATB_HOME_PATH"].endswith(f"cxx_abi_{abi}")


def test_atb_takes_the_abi_that_is_asked_for(tree: Path) -> None:
    script = tree / "nnal" / "atb" / "set_env.sh"
    assert source("bash", script, "--cxx_abi=0")["ATB_HOME_PATH"].endswith("cxx_abi_0")
    assert source("bash", script, "--cxx_abi=1")["ATB_HOME_PATH"].endswith("cxx_abi_1")
    result = subprocess.run(["bash", "-c", f'. "{script}" --cxx_abi=2'], capture_output=True, text=True)
    assert result.returncode == 1
    assert "--cxx_abi=2: expected --cxx_abi=0 or --cxx_abi=1" in result.stderr


def test_the_tree_says_that_it_is_emulated(tree: Path) -> None:
    info = dict(
        line.split("=", 1)
        for line in (tree / "cann" / "x86_64-linux" / "ascend_toolkit_install.info").read_text().splitlines()
    )
    assert list(info) == [
        "package_name",
        "version",
        "innerversion",
        "compatible_version",
        "arch",
        "os",
        "path",
    ]
    assert info["version"] == "9.0.0"
    assert info["innerversion"] == "EMULATED"
    assert info["path"].endswith("/made/cann-9.0.0")
    atb = (tree / "nnal" / "atb" / "latest" / "version.info").read_text()
    assert "Ascend-cann-atb Version : 9.0.0.EMULATED\n" in atb
    assert "Version=25.5.1+emulated\n" in (tree / "driver" / "version.info").read_text()
    assert "toolkit_running_version=[EMULATED:9.0.0]\n" in (tree / "cann" / "version.cfg").read_text()


def test_the_folders_that_torch_npu_asks_for_are_there(tree: Path) -> None:
    """torch_npu/utils/npu_intercept.py: the import fails without opp, runtime and compiler."""
    for folder in ("opp", "runtime", "compiler"):
        assert (tree / "cann" / folder).is_dir()
    assert str((tree / "cann" / "lib64").readlink()) == "x86_64-linux/lib64"
    assert (tree / "cann" / "share" / "info" / "ascendnpu-ir" / "bin" / "set_env.sh").is_file()


def test_an_unset_value_is_named(tmp_path: Path) -> None:
    assert write_tree(tmp_path / "good").returncode == 0
    made = write_tree(tmp_path / "bad", EMUCANN_ARCH="")
    assert made.returncode != 0
    assert "EMUCANN_ARCH is not set" in made.stderr
