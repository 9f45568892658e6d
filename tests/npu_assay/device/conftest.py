import pytest
from npu_smi_texts import HEALTH, LISTING, MAPPING, card, info


@pytest.fixture
def host(tmp_path):
    """A folder with the stored output of a healthy host of two cards."""
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "a.txt").write_text(info(card(0), card(3)))
    (folder / "b.txt").write_text(MAPPING)
    (folder / "c.txt").write_text(LISTING)
    (folder / "d.txt").write_text(HEALTH)
    return folder
