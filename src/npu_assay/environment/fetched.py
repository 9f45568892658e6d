"""A folder of fetched files: what is in it, and whether an environment can be installed from it."""

import platform
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from npu_assay.cache import write_json
from npu_assay.environment.artefacts import artefacts
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError, UsageError
from npu_assay.strict import Strict, first_problem

LISTING = "fetched.json"
#: The folder inside of it with what the launcher installs, which has a list of its own.
LAUNCHER = "launcher"


class FetchedFile(Strict):
    """One file of the folder."""

    file: str
    sha256: str
    size: int
    component: str
    """The component or requirement that it is."""
    version: str


class Fetched(Strict):
    """The whole of fetched.json: the files of all environments that were fetched into the folder."""

    schema_version: int = 1
    files: tuple[FetchedFile, ...] = ()

    def of(self, sha256: Iterable[str], architecture: str) -> FetchedFile | None:
        """The file that has one of these hashes, and is for that architecture."""
        wanted = {*sha256}
        found = (file for file in self.files if file.sha256 in wanted and fits(file.file, architecture))
        return next(found, None)


def fits(file: str, architecture: str) -> bool:
    """Whether a file of that name is for the architecture: all are but wheels that name others alone.

    A lock has the hashes of a requirement's wheels for every architecture, and doesn't say which is which.
    """
    if not file.endswith(".whl"):
        return True
    platforms = file.removesuffix(".whl").rpartition("-")[2].split(".")
    return any(tag == "any" or tag.endswith(f"_{architecture}") for tag in platforms)


def read_fetched(folder: Path) -> Fetched:
    """Read fetched.json; UsageError where there is none or it is another thing."""
    path = folder / LISTING
    try:
        return Fetched.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; make a folder to install from: npu-assay env fetch NAME --to DIR"
        ) from error
    except ValidationError as error:
        raise UsageError(
            f"{path}: {first_problem(error)}; remove it, then npu-assay env fetch NAME --to {folder} makes"
            " it again from the files"
        ) from error


def write_fetched(folder: Path, files: Iterable[FetchedFile]) -> None:
    """Write fetched.json atomically, sorted by file name."""
    listing = Fetched(files=tuple(sorted(files, key=lambda file: file.file)))
    write_json(folder / LISTING, listing.model_dump())


def require_fetched(variant: Variant, folder: Path) -> None:
    """Raises UnusableError that names every file of this machine's variant which is not in the folder.

    Sizes are compared here; hashes by pip, when it installs.
    """
    fetched = read_fetched(folder)
    architecture = platform.machine()
    needed = artefacts(variant, architecture)
    missing = [
        f"{artefact.name} {artefact.version}"
        for artefact in needed.by_pip
        if not _is_there(folder, fetched.of(artefact.sha256, architecture))
    ]
    if missing:
        raise UnusableError(
            f"{folder}: {len(missing)} of {len(needed.by_pip)} files of {variant.lock.name} are not there:"
            f" {', '.join(missing)}; type: npu-assay env fetch {variant.lock.name} --to {folder}"
        )


def _is_there(folder: Path, file: FetchedFile | None) -> bool:
    if file is None:
        return False
    path = folder / file.file
    return path.is_file() and path.stat().st_size == file.size
