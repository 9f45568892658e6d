"""vllm-ascend's own unit tests, as upstream's CI runs them: one after the other, in one process.

Usage: vllm_ascend_ut.py TREE JUNIT_FILE, in an empty folder. TREE is the vllm-ascend that the run proves. Its
tests are copied here, because next to them lies TREE's own vllm_ascend, which a test's process would import
in place of the one that was built. What is left out, and which tests may skip themselves, stands in
vllm_ascend_ut.toml.

Exits 0 when every test passes or is skipped as it is known to be, 3 when there are no tests or others are
skipped, 1 otherwise.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = "tests/ut"
KNOWN = Path(__file__).with_suffix(".toml")
_INCONCLUSIVE = 3


@dataclass(frozen=True)
class Known:
    """What is known about these tests."""

    variables: dict[str, str]
    deviations: dict[str, str]
    ignored: list[str]
    ignored_because: str
    skipped: dict[str, str]
    """Test, named as in JUnit, to its reason."""

    @classmethod
    def read(cls, path: Path = KNOWN) -> "Known":
        """Read the data file."""
        table: dict[str, Any] = tomllib.loads(path.read_text())
        skipped = {junit_name(test): group["reason"] for group in table["skipped"] for test in group["tests"]}
        return cls(
            table["variables"],
            table["deviations"],
            table["ignored"]["files"],
            table["ignored"]["reason"],
            skipped,
        )


def junit_name(node_id: str) -> str:
    """`tests/ut/a.py::Class::test[x]` as JUnit has it: `tests.ut.a.Class::test[x]`."""
    plain, bracket, parameters = node_id.partition("[")
    path, *names = plain.split("::")
    module = path.removesuffix(".py").replace("/", ".")
    return f"{'.'.join([module, *names[:-1]])}::{names[-1]}{bracket}{parameters}"


def skipped_tests(junit: Path) -> dict[str, str]:
    """The tests of a JUnit file that were skipped or expected to fail, and why."""
    found = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        skip = case.find("skipped")
        if skip is not None:
            found[f"{case.get('classname')}::{case.get('name')}"] = skip.get("message", "")
    return found


def run_tests(known: Known, junit: Path) -> int:
    """Run the tests of the current folder; pytest's exit code."""
    ignored = []
    for file in known.ignored:
        if Path(file).is_file():
            print(f"ignored: {file} ({known.ignored_because})")
            ignored.append(f"--ignore={file}")
        else:
            print(f"not there, so not ignored: {file}")
    for what, how in known.deviations.items():
        print(f"deviation from upstream's CI: {what}: {how}")
    for name, value in known.variables.items():
        print(f"variable: {name}={value}")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        f"--junit-xml={junit}",
        "--rootdir=.",
        TESTS,
        *ignored,
    ]
    # A test that writes beside its file writes into the copy.
    variables = os.environ | known.variables | {"PYTHONDONTWRITEBYTECODE": "1"}
    sys.stdout.flush()
    return subprocess.run(command, env=variables, check=False).returncode


def judge(known: Known, junit: Path) -> int:
    """Compare what was skipped with what is known."""
    skipped = skipped_tests(junit)
    for test in sorted(known.skipped.keys() - skipped.keys()):
        print(f"known to be skipped, and was not: {test}")
    unknown = {test: why for test, why in skipped.items() if test not in known.skipped}
    for test, why in unknown.items():
        print(f"skipped, and not known to be: {test}: {why}")
    print(f"skipped: {len(skipped)}, of them {len(unknown)} not known to be")
    return _INCONCLUSIVE if unknown else 0


def main(tree: Path, junit: Path) -> int:
    """Run as a stage."""
    tests = tree / TESTS
    if not tests.is_dir():
        why = "a wheel brings no tests" if not (tree / "setup.py").exists() else "this tree has no tests"
        print(f"inconclusive: no {TESTS} in {tree}: {why}")
        return _INCONCLUSIVE
    shutil.copytree(tests.parent, "tests", symlinks=True)
    # Of the tree, or empty: pytest would go on to a configuration of whatever folder the archive lies in, and
    # name the tests after it.
    own = tree / "pytest.ini"
    Path("pytest.ini").write_bytes(own.read_bytes() if own.is_file() else b"")
    package = importlib.util.find_spec("vllm_ascend")
    print(f"package: {package.origin if package else 'vllm_ascend is not installed'}")
    known = Known.read()
    if code := run_tests(known, junit):
        return 1 if code > 0 else code
    return judge(known, junit)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
