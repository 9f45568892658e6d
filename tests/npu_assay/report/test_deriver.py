"""A derived file names the npu-assay that derived it by all that decides what is derived."""

import pytest

from npu_assay.report.deriver import hash_of_checkout

FILES = (
    "src/npu_assay/claims/rules/health.py",
    "src/npu_assay/report/templates/report.html.j2",
    "src/npu_assay/suites/vllm_ascend_ut.toml",
    "ci/environments/cann900-vllm018.toml",
    "ci/pipelines/kv-offload.toml",
    "requirements.txt",
)


@pytest.fixture
def checkout(tmp_path):
    for name in (*FILES, "docs/a.md", "src/npu_assay/__pycache__/cli.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was")
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_whatever_decides_makes_it_another_one(checkout, name):
    before = hash_of_checkout(checkout)
    assert hash_of_checkout(checkout) == before
    (checkout / name).write_text("edited")
    edited = hash_of_checkout(checkout)
    (checkout / name).rename((checkout / name).with_name("renamed"))
    if name == "requirements.txt":
        (checkout / name).write_text("as it was")
        assert (edited, hash_of_checkout(checkout)) == (edited, before)
    else:
        assert len({before, edited, hash_of_checkout(checkout)}) == 3


def test_what_does_not_decide_has_no_say(checkout):
    before = hash_of_checkout(checkout)
    for name in ("docs/a.md", "src/npu_assay/__pycache__/cli.pyc"):
        (checkout / name).write_text("edited")
    assert hash_of_checkout(checkout) == before
