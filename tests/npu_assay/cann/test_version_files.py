"""Version files say what a person reads off them, or are refused with file and line."""

import re

import pytest
from version_file_parsers import (
    ATB,
    DRIVER,
    FIRMWARE,
    HOST,
    OPS,
    PACKAGE,
    PARSERS,
    TOOLKIT,
    VERSION_CFG,
    Parser,
)

from npu_assay.cann.files.atb_info import AtbInfo, parse_atb_info
from npu_assay.cann.files.driver_info import (
    DriverInfo,
    FirmwareInfo,
    VersionRange,
    parse_driver_info,
    parse_firmware_info,
)
from npu_assay.cann.files.host_info import HostInfo, parse_host_info
from npu_assay.cann.files.install_info import InstallInfo, parse_ops_install_info, parse_toolkit_install_info
from npu_assay.cann.files.keyed import MalformedFileError
from npu_assay.cann.files.package_info import PackageInfo, parse_package_info
from npu_assay.cann.files.version_cfg import Package, PackageVersion, VersionCfg, parse_version_cfg
from npu_assay.cann.versions import ReleaseVersion

READ: dict[str, tuple[Parser, str, object]] = {
    "toolkit": (
        parse_toolkit_install_info,
        TOOLKIT,
        InstallInfo(
            package_name="Ascend-cann-toolkit",
            version="9.0.0",
            innerversion="V100R001C10SPC001B250",
            compatible_version=("V100R001C23", "V100R001C25", "V100R001C10"),
            arch="aarch64",
            os="linux",
            path="/usr/local/Ascend/cann-9.0.0",
        ),
    ),
    "ops, as far as it was seen": (
        parse_ops_install_info,
        OPS,
        InstallInfo("Ascend-cann-910b-ops", "9.0.0", None, None, "aarch64", None, None),
    ),
    "version.cfg": (
        parse_version_cfg,
        VERSION_CFG,
        VersionCfg(
            (
                Package(
                    "runtime",
                    running=(PackageVersion("7.6.0.1.220", "8.0.0"),),
                    installed=(
                        PackageVersion("7.5.0.1.129", "8.0.RC3"),
                        PackageVersion("7.6.0.1.220", "8.0.0"),
                    ),
                ),
                Package(
                    "toolkit",
                    running=(PackageVersion("7.6.0.1.220", "8.0.0"),),
                    upgrade=(PackageVersion("7.6.0.1.220", "8.0.0"),),
                ),
            )
        ),
    ),
    "ATB": (
        parse_atb_info,
        ATB,
        AtbInfo("8.0.0", "B100", "aarch64", "br_release_cann_8.0.0", "0123456789abcdef"),
    ),
    "driver": (
        parse_driver_info,
        DRIVER,
        DriverInfo(
            version="24.1.rc3",
            innerversion="V100R001C19SPC001B124",
            package_version="24.1.rc3",
            compatible_version=("V100R001C18", "V100R001C19"),
            compatible_firmware=VersionRange("7.0.0", "7.5.99"),
        ),
    ),
    "firmware": (
        parse_firmware_info,
        FIRMWARE,
        FirmwareInfo(
            version="7.1.0.11.220",
            package_version="23.0.7",
            compatible_drivers=(VersionRange("23.0.rc3", "23.0.rc3."), VersionRange("23.0.0", "23.0.0.")),
        ),
    ),
    "host": (parse_host_info, HOST, HostInfo("/usr/local/Ascend", "/usr/local/Ascend", "complete")),
    "package": (
        parse_package_info,
        PACKAGE,
        PackageInfo("8.3.T5.0.B028", "8.3.RC1", (("opbase", ">=7.6, <=8.3"), ("runtime", ">=7.6, <=8.3"))),
    ),
    "two keys of a driver": (
        parse_driver_info,
        "Version=25.7.rc1.6\nInnerversion=V100R001C10SPC105B220\n",
        DriverInfo("25.7.rc1.6", "V100R001C10SPC105B220", None, None, None),
    ),
    "ATB of a pre-release, without a build": (
        parse_atb_info,
        "Ascend-cann-atb Version : 8.5.0.alpha001\n",
        AtbInfo("8.5.0.alpha001", None, None, None, None),
    ),
    "the emulated ATB": (
        parse_atb_info,
        "Ascend-cann-atb : 9.0.0\nAscend-cann-atb Version : 9.0.0.EMULATED\n",
        AtbInfo("9.0.0", "EMULATED", None, None, None),
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_file_says_what_it_says(name: str) -> None:
    parse, text, expected = READ[name]
    assert parse(text, "f") == expected


@pytest.mark.parametrize(
    ("innerversion", "build", "train"),
    [
        ("V100R001C10SPC001B250", "B250", "V100R001C10"),
        ("V100R001C10B034", "B034", "V100R001C10"),
        ("V100R001C25SPC001B212", "B212", "V100R001C25"),
        ("EMULATED", None, None),
        ("B250", None, None),
    ],
)
def test_the_build_is_in_the_innerversion(innerversion: str, build: str | None, train: str | None) -> None:
    info = parse_toolkit_install_info(TOOLKIT.replace("V100R001C10SPC001B250", innerversion), "f")
    assert (info.build, info.train, info.emulated) == (build, train, innerversion == "EMULATED")


def test_the_chip_is_in_the_name_of_the_ops_package() -> None:
    assert parse_ops_install_info(OPS, "f").chip == "910b"
    assert parse_ops_install_info(OPS.replace("910b", "A3"), "f").chip == "A3"
    assert parse_toolkit_install_info(TOOLKIT, "f").chip is None


REFUSED: dict[str, tuple[Parser, str, str, str, str]] = {
    "key twice": (
        parse_toolkit_install_info,
        TOOLKIT,
        "os=linux",
        "os=linux\nos=linux",
        "f:7: os stands twice",
    ),
    "key twice, in another case": (parse_driver_info, DRIVER, "aicpu", "aicpu", ""),
    "no innerversion": (parse_toolkit_install_info, TOOLKIT, "innerversion=", "inner=", "f: no innerversion"),
    "a key that only holds the word": (
        parse_toolkit_install_info,
        TOOLKIT,
        "\nversion=",
        "\nxversion=",
        "f: no version; expected a line with it",
    ),
    "no value": (parse_toolkit_install_info, TOOLKIT, "=9.0.0\n", "=\n", "f:2: version has no value"),
    "no value of a key that may be missing": (
        parse_toolkit_install_info,
        TOOLKIT,
        "=aarch64",
        "= ",
        "f:5: arch has no value",
    ),
    "no version": (
        parse_toolkit_install_info,
        TOOLKIT,
        "=9.0.0\n",
        "=nine\n",
        "f:2: version: 'nine' is no version",
    ),
    "no pair": (
        parse_toolkit_install_info,
        TOOLKIT,
        "os=linux",
        "linux",
        "f:6: expected a line key=value, found 'linux'",
    ),
    "no list": (
        parse_toolkit_install_info,
        TOOLKIT,
        "[V100R001C23],",
        "V100R001C23,",
        "f:4: compatible_version: expected [...],[...]",
    ),
    "control characters": (
        parse_toolkit_install_info,
        TOOLKIT,
        "linux",
        "li\0nux",
        "f:6: os: a value of one line",
    ),
    "a bare carriage return": (
        parse_toolkit_install_info,
        TOOLKIT,
        "linux\n",
        "li\rnux\n",
        "f:6: os: a value of",
    ),
    "no pair of versions": (
        parse_version_cfg,
        VERSION_CFG,
        "[7.6.0.1.220:8.0.0]\n",
        "7.6.0.1.220\n",
        "f:2: runtime_running_version: expected [code:name]",
    ),
    "half a pair": (
        parse_version_cfg,
        VERSION_CFG,
        "7.6.0.1.220:",
        " :",
        "f:2: runtime_running_version: expected",
    ),
    "ATB contradicts itself": (
        parse_atb_info,
        ATB,
        "atb : 8.0.0",
        "atb : 8.1.0",
        "f:1: Ascend-cann-atb is 8.1.0, but Ascend-cann-atb Version is 8.0.0.B100",
    ),
    "ATB without its version": (parse_atb_info, ATB, "Version :", "Build :", "f: no Ascend-cann-atb Version"),
    "no range": (
        parse_driver_info,
        DRIVER,
        "[7.0.0,7.5.99]",
        "[7.0.0]",
        "f:5: compatible_version_fw: expected [low,high]",
    ),
    "two ranges": (
        parse_driver_info,
        DRIVER,
        "[7.0.0,7.5.99]",
        "[7.0.0,7.5.99],[8.0.0,8.1.0]",
        "f:5: compatible_version_fw: expected one range",
    ),
    "a range of words": (
        parse_firmware_info,
        FIRMWARE,
        "23.0.0.]",
        "any]",
        "f:4: compatible_version_drv: 'any'",
    ),
    "the driver's version in no form": (
        parse_driver_info,
        DRIVER,
        "=24.1.rc3\na",
        "=24\na",
        "f:1: Version: '24'",
    ),
}
REFUSED["key twice, in another case"] = (
    parse_driver_info,
    DRIVER,
    "ascendhal_version=7.35.23",
    "version=25.5.1",
    "f:2: version stands twice, first in line 1",
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_file_does_not_say_is_refused_with_file_and_line(name: str) -> None:
    parse, text, old, new, message = REFUSED[name]
    parse(text, "f")
    assert old in text
    with pytest.raises(MalformedFileError, match=re.escape(message)) as raised:
        parse(text.replace(old, new, 1), "f")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("name", "parse", "seeds"), PARSERS)
def test_an_empty_file_is_refused(name: str, parse: Parser, seeds: tuple[str, ...]) -> None:
    for text in ("", "\n\n", "# nothing\n"):
        with pytest.raises(MalformedFileError, match=r"^f: empty"):
            parse(text, "f")


def test_a_range_that_ends_in_a_dot_takes_in_what_begins_so() -> None:
    closed, open_ended = VersionRange("23.0.0", "23.0.0"), VersionRange("23.0.0", "23.0.0.")
    patch = ReleaseVersion.parse("23.0.0.5")
    assert not closed.holds(patch)
    assert open_ended.holds(patch)
    assert not open_ended.holds(ReleaseVersion.parse("23.0.1"))
    assert not open_ended.holds(ReleaseVersion.parse("22.9.9"))
