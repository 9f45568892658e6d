"""Every parser of CANN's version files, with texts that it reads: for property tests and for fuzzing.

A parser takes a text and the file's name; it may raise MalformedFileError and nothing else.
"""

from collections.abc import Callable

from npu_assay.cann.files.atb_info import parse_atb_info
from npu_assay.cann.files.driver_info import parse_driver_info, parse_firmware_info
from npu_assay.cann.files.host_info import parse_host_info
from npu_assay.cann.files.install_info import parse_ops_install_info, parse_toolkit_install_info
from npu_assay.cann.files.package_info import parse_package_info
from npu_assay.cann.files.version_cfg import parse_version_cfg

TOOLKIT = """\
package_name=Ascend-cann-toolkit
version=9.0.0
innerversion=V100R001C10SPC001B250
compatible_version=[V100R001C23],[V100R001C25],[V100R001C10]
arch=aarch64
os=linux
path=/usr/local/Ascend/cann-9.0.0
"""
OPS = "package_name=Ascend-cann-910b-ops\nversion=9.0.0\narch=aarch64\n"
VERSION_CFG = """\
# version: 1.0
runtime_running_version=[7.6.0.1.220:8.0.0]
toolkit_running_version=[7.6.0.1.220:8.0.0]
toolkit_upgrade_version=[7.6.0.1.220:8.0.0]
runtime_installed_version=[7.5.0.1.129:8.0.RC3][7.6.0.1.220:8.0.0]
"""
ATB = """\
    Ascend-cann-atb : 8.0.0
    Ascend-cann-atb Version : 8.0.0.B100
    Platform : aarch64
    branch : br_release_cann_8.0.0
    commit id : 0123456789abcdef
"""
DRIVER = """\
Version=24.1.rc3
ascendhal_version=7.35.23
Innerversion=V100R001C19SPC001B124
compatible_version=[V100R001C18],[V100R001C19]
compatible_version_fw=[7.0.0,7.5.99]
package_version=24.1.rc3
"""
FIRMWARE = """\
Version=7.1.0.11.220
firmware_version=1.0
package_version=23.0.7
compatible_version_drv=[23.0.rc3,23.0.rc3.],[23.0.0,23.0.0.]
"""
HOST = """\
UserName=HwHiAiUser
Driver_Install_Path_Param=/usr/local/Ascend
Firmware_Install_Path_Param=/usr/local/Ascend
Driver_Install_Status=complete
"""
PACKAGE = """\
Version=8.3.T5.0.B028
version_dir=8.3.RC1
required_package_runtime_version=">=7.6, <=8.3"
required_package_opbase_version=">=7.6, <=8.3"
"""

Parser = Callable[[str, str], object]

#: Name, parser, texts that it reads.
PARSERS: tuple[tuple[str, Parser, tuple[str, ...]], ...] = (
    ("toolkit install.info", parse_toolkit_install_info, (TOOLKIT,)),
    ("ops install.info", parse_ops_install_info, (OPS, TOOLKIT)),
    ("version.cfg", parse_version_cfg, (VERSION_CFG,)),
    ("ATB version.info", parse_atb_info, (ATB,)),
    ("driver version.info", parse_driver_info, (DRIVER,)),
    ("firmware version.info", parse_firmware_info, (FIRMWARE,)),
    ("host ascend_install.info", parse_host_info, (HOST,)),
    ("package version.info", parse_package_info, (PACKAGE,)),
)
