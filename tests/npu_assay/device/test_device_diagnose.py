"""What doctor learns of the NPUs: each planted fault has one finding, with the advice that mends it."""

import dataclasses
import os

import pytest
from npu_smi_texts import (
    A3,
    C950,
    FAILURE_8005,
    FAILURE_8020,
    HEALTH_OF_NPU,
    LISTING,
    MAPPING,
    MAPPING_950,
    MAPPING_A3,
    SICK,
    card,
    die_950,
    dual_die,
    idle,
    info,
    process,
)

from npu_assay.device.diagnose import Looked, diagnose, look
from npu_assay.device.nodes import read_nodes
from npu_assay.device.query import Survey
from npu_assay.device.stored import read_answers
from npu_assay.diagnosis import Diagnosis, Level


@pytest.fixture
def looked(smi, make_dev, tmp_path):
    """Looks at the host of `smi`, in a dev folder with two dies."""
    dev = make_dev(0, 1)
    driver = tmp_path / "driver"
    driver.mkdir()

    def look_now(**variables: str) -> Looked:
        return look({**os.environ, **variables}, dev, driver, seconds=30)

    return look_now


def bad(findings: list[Diagnosis]) -> list[Diagnosis]:
    return [finding for finding in findings if finding.level is not Level.GOOD]


def test_a_host_where_all_is_well_says_so(looked):
    findings = diagnose(looked())
    assert [(finding.check, finding.level) for finding in findings] == [
        ("npu-smi", Level.GOOD),
        ("die-health", Level.GOOD),
        ("device-nodes", Level.GOOD),
        ("device-map", Level.GOOD),
        ("die-busy", Level.GOOD),
    ]
    assert findings[0].message == "npu-smi 25.3.9 shows 2 dies (910B3)"


LIBRARY = (
    "npu-smi: error while loading shared libraries: libdrvdsmi_host.so: cannot open shared object file\n"
)
SICK_TABLE = info(card(0), card(3, health="Alarm"), processes=idle(0) + idle(3))
BUSY_TABLE = info(card(0), card(3), processes=idle(0) + process(3, 77))


@pytest.mark.parametrize(
    ("answers", "check", "message", "advice"),
    [
        (
            {"info": FAILURE_8005, "info_-m": FAILURE_8005, "info_-l": FAILURE_8005},
            "npu-smi",
            "npu-smi: npu-smi could not reach the driver: 'dcmi module initialize failed. ret is -8005'",
            "--device /dev/davinci_manager",
        ),
        (
            {"info": FAILURE_8020, "info_-m": FAILURE_8020, "info_-l": FAILURE_8020},
            "npu-smi",
            "ret is -8020'",
            "another container or process holds the device",
        ),
        (
            {"info": LIBRARY, "info_-m": LIBRARY, "info_-l": LIBRARY},
            "npu-smi",
            "npu-smi does not start: libdrvdsmi_host.so is not found",
            "export LD_LIBRARY_PATH=/usr/local/Ascend/driver/lib64/common:/usr/local/Ascend/driver/lib64/",
        ),
        (
            {"info": info(card(0), card(3)).rstrip("+=\n")},
            "npu-smi",
            "npu-smi: npu-smi's output is cut short after line 11",
            "ask again",
        ),
        (
            {"info_-l": LISTING.replace(": 2\n", ": 8\n")},
            "npu-smi",
            "npu-smi: npu-smi's output is cut short after line 9: 'Chip Count : 1'",
            "ask again",
        ),
        ({"info": "Brand new table\n"}, "npu-smi", "found 'Brand new table'", "npu-smi info > info.txt"),
        (
            {"info": SICK_TABLE, "info_-t_health_-i_3_-c_0": SICK},
            "die-health",
            "NPU 3 chip 0: health is Alarm, expected OK (error code 80E18005, sensor type=Temperature)",
            "npu-smi set -t reset -i 3 -c 0",
        ),
        (
            {"info": BUSY_TABLE},
            "die-busy",
            "NPU 3 chip 0: used by process 77 (VLLMEngineCore",
            "free here: 0",
        ),
        (
            {"info": info(card(0, name="910B", hbm="0    / 32768"), card(3), processes=idle(0) + idle(3))},
            "die-supported",
            "NPU 0 chip 0: named 910B without a number: soc_version 104, not a supported A2",
            "910B1 to 910B4",
        ),
        (
            {"info_-l": LISTING.replace(": 3\n", ": 4\n")},
            "device-map",
            "NPU 3: in only one of npu-smi info and info -l",
            "npu-assay device map",
        ),
    ],
)
def test_a_fault_of_the_dies_is_found_with_what_mends_it(looked, smi, answers, check, message, advice):
    assert bad(diagnose(looked())) == []
    for name, text in answers.items():
        (smi / name).write_text(text)
    found = [finding for finding in bad(diagnose(looked())) if finding.check == check]
    assert message in found[0].message
    assert advice in (found[0].advice or "")


def test_what_npu_smi_did_not_say_is_not_called_good(looked, smi):
    assert bad(diagnose(looked())) == []
    (smi / "info").write_text(FAILURE_8020)
    findings = diagnose(looked())
    assert [
        (one.check, one.level) for one in findings if one.check in ("npu-smi", "die-health", "die-busy")
    ] == [
        ("npu-smi", Level.PROBLEM),
        ("die-health", Level.WARNING),
        ("die-busy", Level.WARNING),
    ]
    assert "NPU 0 chip 0, NPU 3 chip 0: health not known" in findings[1].message


def test_the_same_failure_of_several_subcommands_is_one_finding(looked, smi):
    for name in ("info", "info_-m", "info_-l"):
        (smi / name).write_text(FAILURE_8020)
    assert [finding.check for finding in bad(diagnose(looked()))] == ["npu-smi"]


def test_a_busy_die_is_a_problem_only_when_no_other_is_free(looked, smi):
    (smi / "info").write_text(BUSY_TABLE)
    assert [one.level for one in bad(diagnose(looked()))] == [Level.WARNING]
    (found,) = bad(diagnose(looked(ASCEND_RT_VISIBLE_DEVICES="1")))
    assert (found.check, found.level) == ("die-busy", Level.PROBLEM)
    assert "processes of all containers" in (found.advice or "")


@pytest.mark.parametrize(
    ("variables", "message", "advice"),
    [
        ({"ASCEND_RT_VISIBLE_DEVICES": "0,8"}, "'8' is no logical id here", "set it to some of 0,1"),
        ({"ASCEND_RT_VISIBLE_DEVICES": "1,0"}, "ascending order only", "ascending, without spaces"),
        ({"ASCEND_VISIBLE_DEVICES": "1"}, "was not honoured: ", "--runtime=ascend"),
        ({"ASCEND_VISIBLE_DEVICES": "0-1,4"}, "has no davinci4", "--runtime=ascend"),
    ],
)
def test_a_variable_that_names_no_die(looked, variables, message, advice):
    good = {"ASCEND_RT_VISIBLE_DEVICES": "1", "ASCEND_VISIBLE_DEVICES": "0-1"}
    assert bad(diagnose(looked(**good))) == []
    (found,) = [one for one in bad(diagnose(looked(**variables))) if one.check == "visible-devices"]
    assert message in found.message
    assert advice in (found.advice or "")


def test_a_container_without_device_nodes_is_told_the_flags_that_it_needs(looked, smi, make_dev):
    assert bad(diagnose(looked())) == []
    for path in make_dev().glob("davinci[0-9]*"):
        path.unlink()
    found = next(one for one in diagnose(looked()) if one.check == "device-nodes")
    assert "npu-smi answers, but there is no " in found.message
    assert "--device /dev/davinci0 --device /dev/davinci_manager --device /dev/devmm_svm" in str(found.advice)
    (smi / "info").write_text(info(dual_die(2, (4, 5)), layout=A3))
    (smi / "info_-m").write_text(MAPPING_A3)
    flags = next(one.advice for one in diagnose(looked()) if one.check == "device-nodes")
    assert "--device /dev/davinci4 --device /dev/davinci5 --device /dev/davinci_manager" in str(flags)


def test_without_npu_smi_the_driver_or_the_nodes_say_that_there_is_an_npu(make_dev, tmp_path):
    variables = {"PATH": str(tmp_path)}
    nothing = diagnose(look(variables, tmp_path / "no-dev", tmp_path / "no-driver"))
    assert [(one.check, one.level) for one in nothing] == [("npu", Level.NOTE)]
    (asked,) = diagnose(look(variables, tmp_path / "no-dev", tmp_path / "no-driver"), hardware=True)
    assert (asked.check, asked.level, asked.message) == ("npu", Level.PROBLEM, nothing[0].message)
    assert "--device /dev/davinci0 --device /dev/davinci_manager" in str(asked.advice)
    assert "`--device emulated`" in str(asked.advice)
    (tmp_path / "driver").mkdir()
    mounted = diagnose(look(variables, tmp_path / "no-dev", tmp_path / "driver"))
    assert [one.check for one in mounted] == ["npu-smi", "device-nodes"]
    assert "the driver is mounted, but there is no " in mounted[1].message
    noded = diagnose(look(variables, make_dev(0), tmp_path / "no-driver"))
    assert [(one.check, one.level) for one in noded] == [
        ("npu-smi", Level.PROBLEM),
        ("device-nodes", Level.GOOD),
    ]
    assert "mount /usr/local/bin/npu-smi" in str(noded[0].advice)


def test_a_manager_that_is_missing_and_a_node_that_is_closed(looked, make_dev):
    good = looked()
    assert bad(diagnose(good)) == []
    (make_dev(0, 1) / "hisi_hdc").unlink()
    (missing,) = bad(diagnose(looked()))
    assert missing.check == "device-nodes"
    assert "hisi_hdc: not there" in missing.message
    dev = make_dev(0, 1)
    closed = dataclasses.replace(good, nodes=read_nodes(dev, may_open=lambda path: path.name != "davinci1"))
    (found,) = bad(diagnose(closed))
    assert (found.check, found.level) == ("device-nodes-access", Level.PROBLEM)
    assert "davinci1: this user may not open them" in found.message
    assert "usermod -aG HwHiAiUser $USER" in str(found.advice)
    assert "--group-add" in str(found.advice)


def test_the_950_needs_no_devmm_svm(looked, smi, make_dev):
    (smi / "info").write_text(info(die_950(4), die_950(6), layout=C950, processes=idle(4) + idle(6)))
    (smi / "info_-m").write_text(MAPPING_950)
    (smi / "info_-l").write_text(LISTING.replace(": 0", ": 4").replace(": 3", ": 6"))
    dev = make_dev(4, 6)
    for name in ("davinci0", "davinci1", "devmm_svm"):
        (dev / name).unlink()
    assert bad(diagnose(looked())) == []
    (dev / "hisi_hdc").unlink()
    assert [one.check for one in bad(diagnose(looked()))] == ["device-nodes"]


def test_a_reset_is_told_with_what_goes_with_it(looked, smi):
    (smi / "info").write_text(SICK_TABLE)
    advice = next(one.advice for one in diagnose(looked()) if one.check == "die-health")
    assert "an A2 server resets all of them" in str(advice)
    assert "as root on the host" in str(advice)
    (smi / "info").write_text(info(die_950(4).replace("OK", "Alarm"), layout=C950, processes=idle(4)))
    (smi / "info_-m").write_text(MAPPING_950)
    advice = next(one.advice for one in diagnose(looked()) if one.check == "die-health")
    assert "`npu-smi set -t reset -i 4 -m 1`" in str(advice)  # the 950 takes no -c
    assert "`npu-smi info -t health -i 4`" in str(advice)


def test_one_die_is_no_dies(looked, smi, make_dev):
    (smi / "info").write_text(info(card(0), processes=idle(0)))
    (smi / "info_-m").write_text("".join(MAPPING.splitlines(keepends=True)[:3]))
    (smi / "info_-l").write_text(LISTING.replace(": 2", ": 1").rpartition("\n\n")[0] + "\n")
    (make_dev(0) / "davinci1").unlink()
    assert [one.message for one in diagnose(looked()) if one.check != "device-nodes"] == [
        "npu-smi 25.3.9 shows 1 die (910B3)",
        "the die is healthy",
        "npu-smi's ids, the device nodes and the variables agree",
        "nobody uses the die that a process sees here",
    ]


def test_stored_output_that_was_cut_short_is_a_problem_and_none_of_its_dies_free(looked, tmp_path):
    def of_stored(text: str) -> list[Diagnosis]:
        (tmp_path / "stored.txt").write_text(text)
        survey = Survey(read_answers([tmp_path / "stored.txt"]), ())
        return diagnose(dataclasses.replace(looked(), survey=survey))

    whole = info(card(0), card(3), processes=idle(0) + idle(3))
    assert {"npu-smi", "die-busy"} <= {one.check for one in of_stored(whole) if one.level is Level.GOOD}
    cut = of_stored(whole[:-200])
    assert [one.level for one in cut if one.check == "npu-smi"] == [Level.PROBLEM]
    assert not [one for one in cut if one.check == "die-busy"]
    assert "cut short after line " in cut[0].message


def test_a_sick_controller_is_a_warning(looked, smi):
    (smi / "info").write_text(SICK_TABLE)
    (smi / "info_-t_health_-i_3_-c_0").write_text(
        HEALTH_OF_NPU.replace(": 2", ": 3", 1).replace("Warning", "Alarm")
    )
    findings = bad(diagnose(looked()))
    assert [(one.check, one.level) for one in findings] == [
        ("die-health", Level.PROBLEM),
        ("npu-smi", Level.WARNING),
    ]


def test_an_emulated_npu_has_no_nodes_and_needs_none(looked, smi, make_dev):
    for path in make_dev().iterdir():
        path.unlink()
    assert [one.check for one in bad(diagnose(looked()))] == ["device-nodes"]
    (smi / "info").write_text((smi / "info").read_text().replace("25.3.9", "9.0.0.EMULATED"))
    assert bad(diagnose(looked())) == []


def test_an_npu_smi_that_hangs_does_not_hold_up_the_rest(smi, make_dev, tmp_path):
    (smi / "npu-smi").write_text("#!/bin/sh\nexec sleep 60\n")
    findings = diagnose(look(dict(os.environ), make_dev(0, 1), tmp_path, seconds=0.2))
    assert [(one.check, one.level) for one in findings] == [
        ("npu-smi", Level.WARNING),
        ("device-nodes", Level.GOOD),
    ]
    assert "no answer within 0.2 s" in findings[0].message
    assert "npu-assay device health" in str(findings[0].advice)
