"""What is installed is read from dist-info folders alone."""

from pathlib import Path

import pytest

from npu_assay.environment.installed import installed, require_versions
from npu_assay.errors import UnusableError


@pytest.fixture
def site(tmp_path: Path) -> Path:
    info = tmp_path / "Torch_NPU-2.9.0.post2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Torch_NPU\nVersion: 2.9.0.post2\n")
    return tmp_path


def test_names_are_normalised_and_places_told(site: Path) -> None:
    found = installed(site)
    assert list(found) == ["torch-npu"]
    assert found["torch-npu"].version == "2.9.0.post2"
    assert found["torch-npu"].dist_info == site / "Torch_NPU-2.9.0.post2.dist-info"


@pytest.mark.parametrize(
    ("name", "version", "says"),
    [
        ("torch-npu", "2.9.0", "torch-npu is 2.9.0.post2, the lock says 2.9.0"),
        ("vllm", "0.18.0", "vllm is not installed, the lock says 0.18.0"),
    ],
)
def test_another_version_is_refused(site: Path, name: str, version: str, says: str) -> None:
    require_versions(site, {"torch_npu": "2.9.0.post2"})
    with pytest.raises(UnusableError, match=says):
        require_versions(site, {name: version})
