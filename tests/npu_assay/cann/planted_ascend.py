"""A healthy /usr/local/Ascend planted in a temporary folder, in the layout of 9.0.0 or of 8.3.RC2.

The files have the shapes of real ones; libraries are empty, since nothing loads them. Tests change one thing.
"""

from collections.abc import Mapping
from pathlib import Path

from npu_assay.cann.agreement import Expected
from npu_assay.cann.diagnose import diagnose
from npu_assay.cann.discovery import Places, find_installed
from npu_assay.cann.installed import Installed
from npu_assay.diagnosis import Diagnosis

ARCH = "aarch64"
B250 = "V100R001C10SPC001B250"
B243 = "V100R001C10SPC001B243"

SCRIPT = """\
export ASCEND_HOME_PATH={root}
export ASCEND_TOOLKIT_HOME={root}
export LD_LIBRARY_PATH={root}/lib64${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}
"""


def toolkit_info(version: str, innerversion: str, path: Path, arch: str = ARCH) -> str:
    return (
        f"package_name=Ascend-cann-toolkit\nversion={version}\ninnerversion={innerversion}\n"
        "compatible_version=[V100R001C21],[V100R001C22],[V100R001C23],[V100R001C25],[V100R001C10]\n"
        f"arch={arch}\nos=linux\npath={path}\n"
    )


def ops_info(version: str, innerversion: str, path: Path, arch: str = ARCH) -> str:
    return toolkit_info(version, innerversion, path, arch).replace("cann-toolkit", "cann-910b-ops")


def atb_info(version: str, build: str, arch: str = ARCH) -> str:
    return (
        f"    Ascend-cann-atb : {version}\n    Ascend-cann-atb Version : {version}.{build}\n"
        f"    Platform : {arch}\n    branch : br_release_cann_{version}\n    commit id : 0123456789abcdef\n"
    )


def driver_info(version: str, innerversion: str = "V100R001C23SPC006B220") -> str:
    return (
        f"Version={version}\nascendhal_version=7.35.23\naicpu_version=1.0\nInnerversion={innerversion}\n"
        "compatible_version=[V100R001C21],[V100R001C22],[V100R001C23]\ncompatible_version_fw=[7.0.0,7.9.99]\n"
        f"package_version={version}\n"
    )


def version_cfg(name: str) -> str:
    packages = ("runtime", "compiler", "hccl", "opp", "toolkit")
    return "# version: 1.0\n" + "".join(f"{p}_running_version=[7.9.0.1.220:{name}]\n" for p in packages)


class PlantedAscend:
    """A tree to change and to look at."""

    def __init__(self, folder: Path, arch: str = ARCH) -> None:
        self.folder = folder
        self.arch = arch
        self.root = folder / "usr/local/Ascend"
        self.places = Places(
            self.root,
            usual=folder / "usr/local/usual",
            host_info=folder / "etc/ascend_install.info",
            system_libraries=(folder / "usr/lib64",),
            machine=arch,
        )
        self.site_packages = folder / "site-packages"

    def write(self, name: str, text: str) -> Path:
        """Write a file below the root, or any at an absolute path."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def remove(self, name: str) -> None:
        (self.root / name).unlink()

    def link(self, name: str, target: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    def plant_toolkit(self, version: str, innerversion: str, folder: str) -> None:
        """A CANN of the layout since 8.5.0, with ops."""
        root, arch = self.root / folder, f"{folder}/{self.arch}-linux"
        self.write(
            f"{arch}/ascend_toolkit_install.info", toolkit_info(version, innerversion, root, self.arch)
        )
        self.write(f"{arch}/ascend_ops_install.info", ops_info(version, innerversion, root, self.arch))
        self.write(f"{arch}/lib64/libascendcl.so", "")
        self.write(f"{arch}/devlib/libascend_hal.so", "")
        self.link(f"{folder}/lib64", f"{self.arch}-linux/lib64")
        self.write(f"{folder}/version.cfg", version_cfg(version))
        self.write(f"{folder}/set_env.sh", SCRIPT.format(root=root))

    def plant_atb(self, version: str, build: str) -> None:
        self.write(f"nnal/atb/{version}/version.info", atb_info(version, build, self.arch))
        for abi in (0, 1):
            self.write(f"nnal/atb/{version}/atb/cxx_abi_{abi}/lib/libatb.so", "")
        for folder, own in (("nnal/atb", "latest/atb"), (f"nnal/atb/{version}/atb", ".")):
            home = self.root / folder / own
            self.write(
                f"{folder}/set_env.sh", f"_abi=${{1:-1}}\nexport ATB_HOME_PATH={home}/cxx_abi_${{_abi##*=}}\n"
            )

    def plant_driver(self, version: str) -> None:
        self.write("driver/version.info", driver_info(version))
        self.write("driver/lib64/driver/libascend_hal.so", "")
        self.write("firmware/version.info", "Version=7.8.0.6.201\npackage_version=25.5.1\n")
        self.write(
            str(self.places.host_info),
            f"UserName=HwHiAiUser\nDriver_Install_Path_Param={self.root}\nDriver_Install_Status=complete\n",
        )

    def plant_torch(self, abi: int) -> None:
        text = {0: "Ss", 1: "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"}[abi]
        path = self.site_packages / "torch/lib/libc10.so"
        self.write(str(path), f"\x7fELF\0_ZN3c105ErrorC1ENS_14SourceLocationE{text}\0")

    def variables(self, **changes: str) -> dict[str, str]:
        """As the environment scripts of the linked CANN and ATB set them."""
        home = self.root / "cann-9.0.0"
        driver = self.root / "driver/lib64/driver"
        return {
            "ASCEND_HOME_PATH": str(home),
            "ASCEND_TOOLKIT_HOME": str(home),
            "ATB_HOME_PATH": str(self.root / "nnal/atb/latest/atb/cxx_abi_1"),
            "LD_LIBRARY_PATH": f"{home}/lib64:{driver}",
        } | changes

    def found(self, variables: Mapping[str, str]) -> Installed:
        return find_installed(self.places, variables)

    def diagnoses(
        self, variables: Mapping[str, str] | None = None, expected: Expected | None = None
    ) -> list[Diagnosis]:
        return diagnose(
            self.places, self.variables() if variables is None else variables, expected, self.site_packages
        )


def plant_cann9(folder: Path, arch: str = ARCH) -> PlantedAscend:
    """CANN 9.0.0 B250 with ops and NNAL of one version, HDK 25.5.1, and a torch of the new C++ ABI."""
    tree = PlantedAscend(folder, arch)
    tree.plant_toolkit("9.0.0", B250, "cann-9.0.0")
    tree.link("cann", "cann-9.0.0")
    tree.link("ascend-toolkit/latest", "../cann")
    tree.link("ascend-toolkit/set_env.sh", "../cann/set_env.sh")
    tree.plant_atb("9.0.0", "B160")
    tree.link("nnal/atb/latest", "9.0.0")
    tree.plant_driver("25.5.1")
    tree.plant_torch(1)
    return tree


def plant_cann8(folder: Path) -> PlantedAscend:
    """CANN 8.3.RC2 as its installer lays it out: latest/ is a folder of links, set_env.sh beside it."""
    tree = PlantedAscend(folder)
    version, root = "8.3.RC2", tree.root / "ascend-toolkit/8.3.RC2"
    arch = f"ascend-toolkit/{version}/{ARCH}-linux"
    tree.write(
        f"{arch}/ascend_toolkit_install.info",
        toolkit_info(version, "V100R001C23SPC002B210", root / f"{ARCH}-linux"),
    )
    tree.write(f"{arch}/lib64/libascendcl.so", "")
    kernels = f"Version=8.3.T5.0.B028\nversion_dir={version}\n"
    tree.write(f"ascend-toolkit/{version}/opp_kernel/version.info", kernels)
    for name in (f"{ARCH}-linux", "opp_kernel"):
        tree.link(f"ascend-toolkit/latest/{name}", f"../{version}/{name}")
    tree.write("ascend-toolkit/latest/version.cfg", version_cfg(version))
    tree.write("ascend-toolkit/set_env.sh", SCRIPT.format(root=tree.root / "ascend-toolkit/latest"))
    tree.plant_atb(version, "B100")
    tree.link("nnal/atb/latest", version)
    tree.plant_driver("25.2.0")
    tree.plant_torch(1)
    return tree
