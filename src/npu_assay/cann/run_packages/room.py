"""How much room an installation takes. Nobody publishes it: it is reckoned from the packages' sizes.

The vendor asks for 10 GB for a toolkit of about 2 GB (installation guide of CANN 8.2). Packages hold packages
that are compressed again, so what the header says of the unpacked size is a beginning only.
"""

from collections.abc import Iterable

from npu_assay.cann.run_packages.sources import Checked

#: What is installed, and what is unpacked meanwhile, as multiples of a package's size. Inferred.
_INSTALLED = 4
_UNPACKED = 2


def needed_mib(packages: Iterable[Checked]) -> int:
    """For all that is installed, and the largest of what is unpacked on the way, which goes again."""
    installed, unpacked = 0, 0
    for package in packages:
        installed += _INSTALLED * package.size
        said = package.header.unpacked if package.header else None
        unpacked = max(unpacked, said or _UNPACKED * package.size)
    return -(-(installed + unpacked) >> 20)
