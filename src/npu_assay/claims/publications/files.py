"""The publications in ci/claims."""

from decimal import Decimal
from pathlib import Path

from npu_assay.claims.publications.model import Publication
from npu_assay.environment.toml_files import read_toml
from npu_assay.environment.toml_lines import line_of
from npu_assay.errors import UsageError
from npu_assay.project import CLAIMS


def publication_names(folder: Path = CLAIMS) -> list[str]:
    """The names of all publications, sorted."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def load_publication(name: str, folder: Path = CLAIMS) -> Publication:
    """Read and check the file of that name, or the file itself where a path to one is given.

    Numbers keep the digits that they are written with. Raises UsageError with one line, what and where.
    """
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if not name.endswith(".toml") and name not in publication_names(folder):
        known = ", ".join(publication_names(folder)) or "none"
        raise UsageError(f"no publication {name!r}; there is {known} in {folder}")
    publication, _, text = read_toml(path, Publication, "a publication", parse_float=Decimal)
    if publication.name != path.stem:
        line = line_of(text, ["name"])
        found, own = publication.name, path.stem
        raise UsageError(f"{path}:{line}: name is {found!r}, expected the file's own, {own!r}")
    return publication
