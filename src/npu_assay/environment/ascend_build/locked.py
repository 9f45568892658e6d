"""The lock's own vllm-ascend as sources: its tests run, patches go on it, and a tree is compared with it."""

from collections.abc import Callable
from pathlib import Path

from npu_assay.cache import folder_lock, writing
from npu_assay.digest import sha256_of
from npu_assay.environment.environment import Environment
from npu_assay.environment.pip import run_pip
from npu_assay.errors import UnusableError, UsageError
from npu_assay.source.location import GitRef, Location, Sdist
from npu_assay.source.offline import take_repositories
from npu_assay.source.patches import Patch
from npu_assay.source.tree import SourceTree, Wanted, make_tree

DISTRIBUTION = "vllm-ascend"
#: Any value that setup.py knows: it asks npu-smi otherwise, where only name and version are wanted.
ANY_SOC = {"SOC_VERSION": "ascend910b1"}

Report = Callable[[str], None]


def make_locked_tree(environment: Environment, report: Report, patches: tuple[Patch, ...] = ()) -> SourceTree:
    """The lock's sources as a tree, with patches where there are any.

    Raises UsageError for a patch that does not apply, UnusableError where the sources can't be had.
    """
    version = environment.variant.versions[DISTRIBUTION]
    if environment.fetched is not None and locked_in_git(environment):
        take_repositories(environment.fetched, environment.cache, report)
    location, words = locked_location(environment), f"{DISTRIBUTION} {version} of {environment.name}"
    if not patches or isinstance(location, GitRef):
        try:
            tree = make_tree(Wanted(location, locks=words), version, environment.cache, report)
        except UsageError as error:  # what the lock names, not the user
            raise UnusableError(_not_to_be_had(environment, location, error)) from error
        if not patches:
            return tree
    return make_tree(Wanted(location, patches), version, environment.cache, report)


def _not_to_be_had(environment: Environment, location: Location, error: UsageError) -> str:
    """For a lock whose sources are at an address that does not answer, or whose commit is not public."""
    why, version = str(error).removeprefix("--vllm-ascend "), environment.variant.versions[DISTRIBUTION]
    release = f"git+{location.url}@v{version}, or " if isinstance(location, GitRef) else ""
    return (
        f"{environment.lock.path}: the lock's own {DISTRIBUTION} can't be had: {why}; prove another:"
        f" --vllm-ascend {release}a folder"
    )


def locked_in_git(environment: Environment) -> bool:
    """Whether the lock's sources are in a repository, which git alone can fetch."""
    return "sdist" not in environment.variant.component(DISTRIBUTION).sha256


def locked_location(environment: Environment) -> Location:
    """Where the lock has them: a source distribution, which is fetched if it is not there, or a commit."""
    component = environment.variant.component(DISTRIBUTION)
    if "sdist" in component.sha256:
        return Sdist(locked_sdist(environment))
    if component.git_ref is None:
        raise UnusableError(
            f"{environment.lock.path}: components.{DISTRIBUTION} has no sha256.sdist and no repository, so no"
            " sources to test or to patch"
        )
    return component.git_ref


def locked_sdist(environment: Environment) -> Path:
    """The source distribution of the lock's hash, kept beside the venv.

    An installation puts it there; where it is missing it is downloaded by the environment's pip, whose own
    settings say from where. Raises UnusableError with pip's own error.
    """
    component = environment.variant.component(DISTRIBUTION)
    folder, sha256 = environment.root / "sdist", component.sha256["sdist"]
    for file in sorted(folder.glob("*.tar.gz")):  # also where this user may not write
        if sha256_of(file) == sha256:
            return file
    with folder_lock(folder), writing(folder):
        for file in sorted(folder.glob("*.tar.gz")):
            if sha256_of(file) == sha256:
                return file
            file.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        line = folder / "requirements.txt"
        line.write_text(f"{DISTRIBUTION}=={component.version} --hash=sha256:{sha256}\n")
        run_pip(
            environment,
            [
                *("download", "--no-deps", "--no-build-isolation", f"--no-binary={DISTRIBUTION}"),
                *("--require-hashes", "-r", str(line), "-d", str(folder)),
            ],
            log=environment.root / "logs" / f"{DISTRIBUTION}.log",
            doing=f"step {DISTRIBUTION}: pip download of the source distribution",
            extra=ANY_SOC,
        )
        return next(folder.glob("*.tar.gz"))
