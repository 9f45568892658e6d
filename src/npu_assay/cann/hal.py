"""Which libascend_hal.so the dynamic linker would take.

The driver's is the real one. The toolkit has a stub of that name in devlib/, to link against on machines
without a driver; its set_env.sh appends that folder to LD_LIBRARY_PATH when it finds no driver, and images
add it for builds. A process that loads the stub finds no device.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from npu_assay.cann.discovery import HAL
from npu_assay.cann.installed import Installed
from npu_assay.cann.paths import is_file, is_within, real_path


class HalKind(StrEnum):
    """Whose library it is."""

    DRIVER = "driver"
    STUB = "stub"
    OTHER = "other"
    """On LD_LIBRARY_PATH, but neither the driver's nor a toolkit's stub."""
    NOT_ON_PATH = "not on path"
    """It is there, but LD_LIBRARY_PATH does not name it: the system's own configuration has to."""
    MISSING = "missing"


@dataclass(frozen=True)
class Hal:
    """The library that would be loaded."""

    kind: HalKind
    path: Path | None


def chosen_hal(installed: Installed, variables: Mapping[str, str], system: Iterable[Path] = ()) -> Hal:
    """The first on LD_LIBRARY_PATH, else the driver's, else one in the `system` folders.

    The dynamic linker's configuration (ldconfig) is not asked.
    """
    stubs = [folder for toolkit in installed.toolkits for folder in toolkit.devlib]
    driver = real_path(installed.driver.root)
    for entry in variables.get("LD_LIBRARY_PATH", "").split(":"):
        path = Path(entry) / HAL
        if not entry or not is_file(path):
            continue
        real = real_path(path)
        if any(is_within(real, stub) for stub in stubs) or Path(entry).name == "devlib":
            return Hal(HalKind.STUB, path)
        return Hal(HalKind.DRIVER if is_within(real, driver) else HalKind.OTHER, path)
    elsewhere = (installed.driver.hal, *(folder / HAL for folder in system))
    found = next((path for path in elsewhere if path is not None and is_file(path)), None)
    return Hal(HalKind.NOT_ON_PATH if found else HalKind.MISSING, found)
