import pytest
from npu_smi_texts import HEALTH, LISTING, MAPPING, card, info

from npu_assay.device.health import assess
from npu_assay.device.kind import choose_kind
from npu_assay.device.stored import read_outputs
from npu_assay.errors import UnusableError, UsageError


def test_a_healthy_host(host):
    assessment = assess(read_outputs([host]))
    assert assessment.healthy
    assert [(d.npu_id, d.logic_id, d.hbm_total_mib) for d in assessment.devices] == [
        (0, 0, 65536),
        (3, 1, 65536),
    ]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("a.txt", info(card(0), card(3, health="Alarm")), "NPU 3 chip 0: health is Alarm, expected OK"),
        ("a.txt", info(card(0), card(3, health="UNKNOWN")), "NPU 3 chip 0: health is UNKNOWN"),
        ("a.txt", info(card(0), card(3, hbm="0    / 0")), "NPU 3 chip 0: HBM of 0 MiB"),
        ("a.txt", info(card(0)), "NPU 3 chip 0: in only one of npu-smi info and info -m"),
        ("b.txt", MAPPING.replace("\t3", "\t5"), "NPU 3 chip 0: in only one of"),
        ("b.txt", MAPPING.replace("\t3 ", "\t-1"), "chip 0 (Ascend 910B3): NPU ID -1, unusable"),
        ("c.txt", LISTING.replace(": 3\n", ": 4\n"), "NPU 3: in only one of npu-smi info and info -l"),
        (
            "d.txt",
            HEALTH.replace("OK", "Critical"),
            "d.txt: health is Critical, expected OK (error code NA, NA)",
        ),
    ],
)
def test_whatever_is_wrong_is_named(host, file, text, problem):
    assert assess(read_outputs([host])).problems == ()
    (host / file).write_text(text)
    assert problem in "\n".join(assess(read_outputs([host])).problems)


def test_stored_output_is_of_one_host(host, tmp_path):
    read_outputs(sorted(host.iterdir()))
    (tmp_path / "again.txt").write_text(info(card(0)))
    with pytest.raises(UsageError, match=r"a.txt and .*again.txt both hold npu-smi info;"):
        read_outputs([host, tmp_path / "again.txt"])
    with pytest.raises(UsageError, match=r"no npu-smi info among .*b.txt"):
        read_outputs([host / "b.txt"])
    with pytest.raises(UsageError, match=r"nowhere: can't be read \(No such file"):
        read_outputs([tmp_path / "nowhere"])


def test_the_kind_of_device_is_never_a_surprise(tmp_path):
    assert choose_kind("auto", tmp_path) == ("emulated", f"emulated, as there is no {tmp_path}/davinci*")
    assert choose_kind("emulated", tmp_path)[0] == "emulated"
    with pytest.raises(UnusableError, match="no NPU; use --device emulated"):
        choose_kind("npu", tmp_path)
    (tmp_path / "davinci_manager").touch()
    assert choose_kind("auto", tmp_path)[0] == "emulated"
    (tmp_path / "davinci3").touch()
    assert choose_kind("emulated", tmp_path)[0] == "emulated"
    for wanted in ("auto", "npu"):
        with pytest.raises(
            UnusableError, match=r"davinci3 needs a host provider of CANN, not in this release"
        ):
            choose_kind(wanted, tmp_path)
