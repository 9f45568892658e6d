"""`version.info` of one package inside a CANN, such as `opp_kernel/version.info` of 8.x, or of custom ops for
it.

The form was seen for opp_kernel 8.3 and for a custom op package built against 9.1.0.
"""

from dataclasses import dataclass

from npu_assay.cann.files.keyed import read_keyed

_REQUIRED = "required_package_"


@dataclass(frozen=True)
class PackageInfo:
    """What a package of CANN says of itself."""

    version: str
    """The package's own; of internal builds 8.3.T5.0.B028, so it is not compared."""
    version_dir: str | None
    """The folder it was installed into, which is CANN's version (8.3.RC1), or `cann`."""
    requires: tuple[tuple[str, str], ...]
    """Packages that it needs, and which versions of them (>=7.6, <=8.3), sorted."""


def parse_package_info(text: str, source: str) -> PackageInfo:
    """Read a package's version.info. Raises MalformedFileError."""
    keyed = read_keyed(text, source, any_case=True)
    requires = (
        (key.removeprefix(_REQUIRED).removesuffix("_version"), entry.value.strip('"'))
        for key, entry in keyed.entries.items()
        if key.startswith(_REQUIRED)
    )
    return PackageInfo(
        version=keyed.required("Version"),
        version_dir=keyed.optional("version_dir"),
        requires=tuple(sorted(requires)),
    )
