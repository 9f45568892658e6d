"""`ascend_toolkit_install.info` and `ascend_ops_install.info` in `<CANN>/<arch>-linux/`.

The toolkit's file was seen from 8.0.0 to 9.1.0 (vllm-ascend#9305 has 9.0.0's). That the ops package leaves
`ascend_ops_install.info` beside it from 8.5.0 on, with `package_name=Ascend-cann-910b-ops`, is from the build
instructions of the CANN repositories and from users' notes; a whole one was not seen, so its innerversion is
optional here. Before 8.5 the kernels package leaves `opp_kernel/version.info` instead (package_info.py).
"""

import re
from dataclasses import dataclass

from npu_assay.cann.files.keyed import Keyed, read_keyed
from npu_assay.cann.versions import EMULATED, build_of, train_of

_OPS_PACKAGE = re.compile(r"Ascend-cann-(?P<chip>.+)-ops")


@dataclass(frozen=True)
class InstallInfo:
    """What a package of CANN recorded when it was installed."""

    package_name: str
    version: str
    innerversion: str | None
    """The build: V100R001C10SPC001B250 is "9.0.0 B250"; EMULATED is the emulated CANN's."""
    compatible_version: tuple[str, ...] | None
    """Innerversions without service pack and build (V100R001C23); None where the file has no such line."""
    arch: str | None
    os: str | None
    path: str | None
    """Where it was installed; with `<arch>-linux` at its end in some releases."""

    @property
    def build(self) -> str | None:
        """The build's number, such as B250; None where there is none to read."""
        return build_of(self.innerversion) if self.innerversion else None

    @property
    def train(self) -> str | None:
        """What the innerversion begins with, such as V100R001C10."""
        return train_of(self.innerversion) if self.innerversion else None

    @property
    def emulated(self) -> bool:
        """Whether this is the emulated CANN."""
        return self.innerversion == EMULATED

    @property
    def chip(self) -> str | None:
        """The chip that an ops package is for, as its name says: 910b, A3, 310p; None for other packages."""
        match = _OPS_PACKAGE.fullmatch(self.package_name)
        return match["chip"] if match else None

    def __str__(self) -> str:
        return f"{self.version} ({self.innerversion or 'no innerversion'})"


def parse_toolkit_install_info(text: str, source: str) -> InstallInfo:
    """Read an ascend_toolkit_install.info. Raises MalformedFileError."""
    keyed = read_keyed(text, source)
    return _install_info(keyed, keyed.required("innerversion"))


def parse_ops_install_info(text: str, source: str) -> InstallInfo:
    """Read an ascend_ops_install.info. Raises MalformedFileError."""
    keyed = read_keyed(text, source)
    return _install_info(keyed, keyed.optional("innerversion"))


def _install_info(keyed: Keyed, innerversion: str | None) -> InstallInfo:
    return InstallInfo(
        package_name=keyed.required("package_name"),
        version=keyed.version("version", keyed.required("version")),
        innerversion=innerversion,
        compatible_version=keyed.bracketed("compatible_version"),
        arch=keyed.optional("arch"),
        os=keyed.optional("os"),
        path=keyed.optional("path"),
    )
