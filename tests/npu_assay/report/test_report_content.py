"""What a report says of a run: facts, departures, versions, and which findings come first."""

import os

import pytest
from offload_archive import LOCKED, OffloadArchive

from npu_assay.claims.findings import Evidence, Finding, Result
from npu_assay.evidence.device_state import DieState, ProcessState
from npu_assay.evidence.manifest import ChangedSetting, FileRecord, ModelRecord, ShardRecord
from npu_assay.evidence.stage_inputs import DatasetInput, ModelInput, StageInputs
from npu_assay.report.facts import departures, facts
from npu_assay.report.findings import MOST_OF_RULE, by_rule
from npu_assay.report.headline import headline
from npu_assay.report.legible import href, seconds, size, visible
from npu_assay.report.loaded import components
from npu_assay.report.places import MOST_PLACES, is_within

SHA = "0" * 64
FILE = FileRecord(sha256=SHA, size=1 << 20)


def said(offload: OffloadArchive, label: str) -> list[str]:
    (fact,) = (fact for fact in facts(offload.manifest) if fact.label == label)
    return [fact.text, *fact.details]


def state(**known: object) -> DieState:
    unknown = dict.fromkeys(DieState.model_fields)
    return DieState(**{**unknown, "npu_id": 0, "chip_id": 0, **known})


def test_a_run_of_the_locks_own_has_no_patch_no_model_no_inputs(offload):
    assert said(offload, "vllm-ascend")[0] == "0.18.0"
    assert said(offload, "Model") == ["the pipeline's own"]
    for stage in offload.manifest.stages:
        offload.change_stage(stage.name, inputs=None)
    assert "Inputs" not in [fact.label for fact in facts(offload.manifest)]
    assert not said(offload, "Pipeline")[1].startswith("shard")


def test_the_image_of_a_run_is_one_line_with_its_digest(offload):
    assert "Image" not in [fact.label for fact in facts(offload.manifest)]
    offload.put_in_image(reference="npu-assay:mine", revision="a" * 40)
    text, detail = said(offload, "Image")
    assert text == f"npu-assay:mine, sha256:{'f' * 64} (manifest)"
    assert detail.startswith("cann900-vllm018-emulated-")
    assert detail.endswith(f", runtime, from debian:bookworm-slim, of commit {'a' * 40}")
    offload.put_in_image(reference=None, digest=None)
    text, detail = said(offload, "Image")
    assert text.endswith(", digest not given")
    assert detail.endswith(", of no commit that the build was told")


def test_a_shard_says_which_one_it_is(offload):
    offload.change_manifest(shard=ShardRecord(index=1, count=2))
    assert said(offload, "Pipeline")[1] == "shard 1/2: its part of a divided run"


def test_the_title_says_what_was_tried(offload):
    verdict = offload.verdict()
    assert headline(verdict, offload.manifest).title == "kv-offload on cann900-vllm018"
    patches = {"0001-fix.patch": "x", "0002-more.patch": "y"}
    offload.write_tree({"setup.py": ""}, patches, base={}, commit="c" * 40, dirty=True)
    title = headline(verdict, offload.manifest).title
    assert title == "kv-offload on cann900-vllm018, with fix.patch and 1 more"


def test_a_tree_of_ones_own_is_named_with_its_patches(offload):
    offload.write_tree({"setup.py": ""}, {"0001-fix.patch": "x"}, base={}, commit="c" * 40, dirty=True)
    text, given, commit, tree, patch = said(offload, "vllm-ascend")
    assert text.endswith(" with 1 patch")
    assert (given, commit) == ("/home/me/vllm-ascend", f"commit {'c' * 40} and changes")
    assert tree.startswith("1 file, tree sha256 ")
    assert patch.startswith("patch fix.patch, sha256 ")


def test_a_model_and_what_stages_read_are_named(offload):
    model = ModelRecord(path="/m", architectures=("Qwen2ForCausalLM",), model_type="qwen2", files={"a": FILE})
    inputs = StageInputs(
        models=(ModelInput(name="tiny", files={"a": FILE, "b": FILE}),),
        datasets=(DatasetInput(name="prompts", source="made", revision="seed 0", rows=3, sha256=SHA),),
    )
    offload.change_manifest(model=model)
    offload.change_stage("native-high-level", inputs=inputs)
    assert said(offload, "Model") == ["qwen2: Qwen2ForCausalLM", "/m", "1 file, 1.0 MiB"]
    assert said(offload, "Inputs") == [
        "2 models and datasets",
        "native-high-level: model tiny, 2 files, 2.0 MiB",
        f"native-high-level: prompts, 3 rows from made at seed 0, sha256 {SHA}",
    ]


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "health unknown, processes unknown"),
        (
            {"health": "OK", "temperature": 41.0, "power_w": 93.5, "processes": ()},
            "health OK, 41 °C, 93.5 W, 0 processes",
        ),
        (
            {
                "hbm_used_mib": 3000,
                "hbm_total_mib": 65536,
                "processes": (ProcessState(pid=1, name="a", memory_mib=2),),
            },
            "health unknown, 3,000 of 65,536 MiB HBM used, 1 process",
        ),
    ],
)
def test_the_state_of_a_die_is_what_npu_smi_showed(offload, known, words):
    before, other = state(**known), state(**known, npu_id=7)
    device = offload.manifest.device
    for states, number in (((None, None), 0), (((before, other), (before,)), 2)):
        update = dict(zip(("before", "after"), states, strict=True))
        offload.change_manifest(device=device.model_copy(update=update))
        told = [line for line in said(offload, "Device") if line.startswith(("before", "after"))]
        assert len(told) == number
    assert said(offload, "Device")[1:4] == [
        "NPU 0 chip 0, bus 0000:C1:00.0",
        f"before: {words}",
        f"after: {words}",
    ]


def test_departures_begin_with_what_the_user_changed(offload):
    nothing = {"deviations": {}, "absent": {}, "unverified": (), "rebuilt": {}, "notes": {}}
    environment = offload.manifest.environment.model_copy(update=nothing)
    offload.change_manifest(environment=environment, changed_settings={})
    assert departures(offload.manifest) == ()
    environment = environment.model_copy(
        update={
            "deviations": {"torch": "another build"},
            "absent": {"nnal": "no need"},
            "unverified": ("cann",),
            "rebuilt": {"a.so": SHA},
            "notes": {"vllm": ("known to be slow",)},
        }
    )
    changed = {"native-high-level.rounds": ChangedSetting(default=3, used=5)}
    offload.change_manifest(environment=environment, changed_settings=changed)
    assert [(one.subject, one.why) for one in departures(offload.manifest)] == [
        ("native-high-level.rounds", "5, where the pipeline has 3"),
        ("torch", "another build"),
        ("nnal", "left out: no need"),
        ("cann", "its sha256 is not recorded"),
        ("a.so", f"compiled here, sha256 {SHA}"),
        ("vllm", "known to be slow"),
    ]


def test_versions_are_the_locks_beside_the_loaded_ones(offload):
    site = "/v/lib/python3.11/site-packages/"
    packages = [
        {"name": "torch", "version": "2.9.0+cpu", "path": f"{site}torch/__init__.py"},
        {"name": "mine", "version": "1", "path": "/elsewhere/mine.py"},
    ]
    assert components(offload.archive, offload.manifest).problem == ""
    offload.write("environment.json", "{}")
    problem = components(offload.archive, offload.manifest).problem
    assert problem == "environment.json does not say what was loaded"
    offload.write("environment.json", f'{{"packages": {packages!r}}}'.replace("'", '"'))
    table = components(offload.archive, offload.manifest)
    rows = {row.name: (row.locked, row.loaded, row.path) for row in table.rows}
    assert (table.site_packages, table.problem) == (site, "")
    assert rows["torch"] == ("2.9.0", "2.9.0+cpu", "torch/__init__.py")
    assert rows["vllm"] == (LOCKED["vllm"], "", "")
    assert rows["cann"] == ("9.0.0 (EMULATED)", "", "")
    assert rows["mine"] == ("", "1", "/elsewhere/mine.py")


def finding(rule: str, result: Result, message: str = "", *evidence: Evidence) -> Finding:
    return Finding(rule, result, message, evidence)


def test_the_worst_rule_comes_first_and_in_it_the_worst_finding(offload):
    rules = by_rule(
        offload.root,
        [
            finding("a/1", Result.PASS),
            finding("b/1", Result.PASS),
            finding("b/1", Result.FAIL, "bad"),
            finding("c/1", Result.NOT_APPLICABLE),
            finding("d/1", Result.INCONCLUSIVE),
        ],
    )
    assert [rule.rule for rule in rules] == ["b/1", "d/1", "c/1", "a/1"]
    assert [(one.number, one.message) for one in rules[0].findings] == [(3, "bad"), (2, "")]
    assert rules[0].counts == {Result.FAIL: 1, Result.PASS: 1}
    assert [one.number for one in rules[0].problems] == [3]
    assert [one.number for one in rules[0].others] == [2]


def test_no_failure_is_left_out_for_a_pass(offload):
    many = [finding("a/1", Result.PASS)] * MOST_OF_RULE + [finding("a/1", Result.FAIL, "bad")]
    (rule,) = by_rule(offload.root, many)
    assert (rule.findings[0].message, len(rule.findings), rule.left_out) == ("bad", MOST_OF_RULE, 1)
    places = [Evidence("stages/ruff.log", line) for line in range(1, MOST_PLACES + 4)]
    (rule,) = by_rule(offload.root, [finding("a/1", Result.FAIL, "", *places)])
    (shown,) = rule.findings
    assert (len(shown.places), shown.more_places) == (MOST_PLACES, 3)
    assert [bool(place.excerpt) for place in shown.places] == [True] + [False] * (MOST_PLACES - 1)


@pytest.mark.parametrize("result", Result)
def test_of_a_log_that_is_a_problem_as_a_whole_the_end_is_shown(offload, result):
    offload.write("stages/ruff.log", "".join(f"line {number}\n" for number in range(1, 100)))
    (rule,) = by_rule(offload.root, [finding("a/1", result, "", Evidence("stages/ruff.log"))])
    shown = [line.text for line in rule.findings[0].places[0].excerpt]
    problem = result in (Result.FAIL, Result.INCONCLUSIVE)
    assert shown == ([f"line {number}" for number in range(92, 100)] if problem else [])


def test_only_what_is_in_the_archive_is_linked_and_read(offload, tmp_path):
    assert is_within(offload.root, "stages/ruff.log")
    assert is_within(offload.root, "device")
    (offload.root / "link").symlink_to(tmp_path)
    (offload.root / "file").symlink_to("manifest.json")
    os.mkfifo(offload.root / "pipe")
    (tmp_path / "x").write_text("x")
    for name in ("link/x", "link", "file", "pipe", "../x", str(tmp_path / "x"), "missing", "", "a\0b"):
        assert not is_within(offload.root, name)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0.0 s"), (9.96, "10.0 s"), (99.4, "99.4 s"), (193.2, "3 min 13 s"), (7512, "2 h 05 min")],
)
def test_durations_are_read_at_a_glance(value, words):
    assert seconds(value) == words


@pytest.mark.parametrize(
    ("value", "words"), [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KiB"), (25276514304, "23.5 GiB")]
)
def test_sizes_are_in_the_largest_unit_that_they_fill(value, words):
    assert size(value) == words


def test_text_is_bounded_and_says_so():
    assert visible("a\nb\0") == r"a\nb\x00"
    assert visible("abcdef", 4) == "abcd… (2 more characters)"


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("stages/a.log", "./stages/a.log"),
        ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
        ('a"b c?#%', "./a%22b%20c%3F%23%25"),
        (os.fsdecode(b"\xff"), "./%FF"),
    ],
)
def test_a_link_is_relative_whatever_a_file_is_called(name, link):
    assert href(name) == link
