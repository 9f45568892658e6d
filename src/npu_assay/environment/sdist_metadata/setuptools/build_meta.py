"""The one hook of a build backend (PEP 517) that `pip download` calls; it can build nothing."""

from collections.abc import Mapping
from email.parser import BytesHeaderParser
from pathlib import Path


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Mapping[str, object] | None = None
) -> str:
    """Take PKG-INFO, in the current folder, for a wheel's METADATA; return the name of its folder."""
    metadata = Path("PKG-INFO").read_bytes()
    fields = BytesHeaderParser().parsebytes(metadata)
    dist_info = f"{fields['Name'].replace('-', '_')}-{fields['Version']}.dist-info"
    folder = Path(metadata_directory, dist_info)
    folder.mkdir()
    folder.joinpath("METADATA").write_bytes(metadata)
    return dist_info
