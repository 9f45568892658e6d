"""The C++ ABI of torch is read from its files."""

from pathlib import Path

import pytest
from planted_ascend import PlantedAscend

from npu_assay.cann.cxx_abi import atb_cxx_abi, torch_cxx_abi
from npu_assay.environment.environment import Environment


def test_torchs_library_says_which_abi_it_has(tmp_path: Path) -> None:
    tree = PlantedAscend(tmp_path)
    for abi in (1, 0):
        tree.plant_torch(abi)
        assert torch_cxx_abi(tree.site_packages) == abi


def test_without_torch_or_with_a_library_that_does_not_say_nothing_is_claimed(tmp_path: Path) -> None:
    tree = PlantedAscend(tmp_path)
    tree.plant_torch(1)
    assert torch_cxx_abi(tree.site_packages) == 1
    library = tree.site_packages / "torch/lib/libc10.so"
    both = library.read_bytes() + b"_ZN3c105ErrorC2ENS_14SourceLocationESs"
    for content in (b"", b"no symbols", both):
        library.write_bytes(content)
        assert torch_cxx_abi(tree.site_packages) is None
    library.unlink()
    assert torch_cxx_abi(tree.site_packages) is None


@pytest.mark.environment
def test_the_installed_torch_has_the_new_abi(environment: Environment) -> None:
    assert torch_cxx_abi(environment.site_packages) == 1


def test_atbs_variable_names_its_abi() -> None:
    assert atb_cxx_abi("/usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_1") == 1
    assert atb_cxx_abi("/usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_0/") == 0
    assert atb_cxx_abi("/usr/local/Ascend/nnal/atb/latest/atb") is None
    assert atb_cxx_abi("") is None
