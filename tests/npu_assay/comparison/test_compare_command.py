"""`npu-assay compare`: what is printed in each form, baselines, and the exit codes."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result
from offload_archive import IDENTITY, Change, OffloadArchive, comparison, device_of
from planted_shards import merged, plant_shards, whose
from planted_tests import junit, names_of_tests

from npu_assay import schemas
from npu_assay.commands.compare import compare
from npu_assay.comparison.baseline import read_baseline
from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.manifest import StageStatus


def run(*words: object) -> Result:
    return CliRunner().invoke(compare, [str(word) for word in words])


@pytest.fixture
def pair(tmp_path) -> tuple[OffloadArchive, OffloadArchive]:
    """Two good archives that are alike."""
    a, b = OffloadArchive(tmp_path / "a"), OffloadArchive(tmp_path / "b")
    b.change_manifest(started=a.manifest.started, finished=a.manifest.finished)
    for one in (a, b):
        one.seal()
    return a, b


def benchmark(archive: OffloadArchive, factor: float = 1.0) -> None:
    rows = [
        {
            "case": "baseline",
            "load": 0,
            "round": number,
            "seconds": (0.7 + number / 1000) * factor,
            "output_tokens_per_second": (740 + number) / factor,
        }
        for number in (1, 2, 3)
    ]
    archive.write("results/performance-runs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def test_two_runs_that_are_alike(pair):
    a, b = pair
    ended = run(a.root, b.root)
    assert ended.exit_code == 0
    lines = ended.output.splitlines()
    assert [line for line in lines if line.isupper() and line.isalpha()] == [
        "COMPARED",
        "ENVIRONMENT",
        "STAGES",
        "PERFORMANCE",
        "TOKENS",
        "CONCLUSION",
    ]
    assert lines[-1] == "no regression"
    assert "EMULATED is no evidence about an NPU" in ended.output
    assert run(a.root, b.root).output == ended.output
    # Neither the terminal nor where the archives lie is in it.
    assert str(a.root) not in ended.output
    assert "\x1b" not in ended.output


def fail_unit(archive: OffloadArchive) -> None:
    archive.change_stage("unit", status=StageStatus.FAIL, reason="exit code 1", exit_code=1)


UNIT = names_of_tests("unit")


def lose_a_test(archive: OffloadArchive) -> None:
    archive.write("stages/unit.junit.xml", junit(dict.fromkeys(UNIT[:-1], "")))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (fail_unit, "stage unit: pass in A, fail in B"),
        (lose_a_test, f"stage unit: 1 test lost, first {UNIT[-1]}: passed in A, not there in B"),
        (
            lambda archive: archive.write_comparisons(
                *(comparison(length, npu_token_ids=[5] * 16) for length in (1, 7)), comparison(300)
            ),
            "tokens of tokens-equal-cpu, NPU: 2 of 3 answers differ",
        ),
    ],
)
def test_what_is_worse_is_exit_1(pair, change: Change, said: str):
    a, b = pair
    assert run(a.root, b.root).exit_code == 0
    change(b)
    b.seal()
    ended = run(a.root, b.root)
    assert said in ended.output
    assert ended.output.splitlines()[-1] == "1 regression"
    assert ended.exit_code == 1


def test_performance_beyond_the_tolerance_is_exit_1(pair):
    a, b = pair
    for archive, factor in ((a, 1.0), (b, 1.1)):
        benchmark(archive, factor)
        archive.seal()
    ended = run(a.root, b.root)
    assert ended.exit_code == 1
    assert "performance of baseline: seconds is worse, +10.00 %" in ended.output
    assert "nothing that is recorded differs" in ended.output
    assert run(a.root, b.root, "--tolerance", "11").exit_code == 0
    assert run(b.root, a.root).exit_code == 0


def other_cann(archive: OffloadArchive) -> None:
    environment = archive.manifest.environment
    changed = environment.model_copy(update={"versions": environment.versions | {"cann": "8.5.1"}})
    archive.change_manifest(environment=changed)


def test_performance_on_another_cann_is_refused_and_the_rest_is_shown(pair):
    a, b = pair
    benchmark(a)
    benchmark(b, 1.1)
    other_cann(b)
    for archive in pair:
        archive.seal()
    ended = run(a.root, b.root)
    assert ended.exit_code == 0
    assert "refused: cann: 9.0.0 in A, 8.5.1 in B" in ended.output
    assert "baseline" not in ended.output
    assert "native-high-level" in ended.output
    assert ended.output.splitlines()[-1] == "no regression, performance not compared"


def test_nothing_but_refused_performance_is_exit_3(pair):
    a, b = pair
    for archive in pair:
        benchmark(archive)
        for name in ("kv-offload", "tokens-equal-cpu"):
            (archive.root / f"results/{name}.jsonl").unlink()
    other_cann(b)
    for stage in b.manifest.stages:
        b.remove_stage(stage.name, StageStatus.NOT_RUN, "not asked for")
    for archive in pair:
        archive.seal()
    ended = run(a.root, b.root)
    assert "refused: cann: 9.0.0 in A, 8.5.1 in B" in ended.output
    assert ended.output.splitlines()[-1] == "inconclusive: nothing could be compared"
    assert ended.exit_code == 3


def test_emulated_against_hardware_is_refused_even_if_relabelled(pair):
    a, b = pair
    for archive in pair:
        benchmark(archive)
    b.change_manifest(device=device_of("hardware"))
    for archive in pair:
        archive.seal()
    # The logs still say that b was emulated, too.
    assert "refused" not in run(a.root, b.root).output
    b.replace("stages/versions-and-paths.log", IDENTITY, "hardware B250")
    b.seal()
    assert "refused: CANN that was loaded" in run(a.root, b.root).output


def test_a_baseline_stands_for_its_archive(pair, tmp_path):
    a, b = pair
    benchmark(a)
    a.seal()
    file = tmp_path / "baseline.json"
    ended = run(a.root, "--save-baseline", file)
    assert (ended.exit_code, ended.output) == (0, f"wrote {file}\n")
    for other in (a, b):
        assert run(file, other.root).output == run(a.root, other.root).output
        assert run(other.root, file).output == run(other.root, a.root).output
    lose_a_test(b)
    b.seal()
    assert run(file, b.root).exit_code == 1
    schema = json.loads(schemas.schema_file("baseline").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    saved = json.loads(file.read_text())
    validator.validate(saved)
    with pytest.raises(jsonschema.ValidationError, match="'extra' was unexpected"):
        validator.validate(saved | {"extra": 1})


def test_a_baseline_is_never_written_over_another_file(pair, tmp_path):
    file = tmp_path / "baseline.json"
    assert run(pair[0].root, "--save-baseline", file).exit_code == 0
    assert run(pair[1].root, "--save-baseline", file).exit_code == 0
    file.write_text("my diary")
    ended = run(pair[0].root, "--save-baseline", file)
    assert isinstance(ended.exception, UsageError)
    assert file.read_text() == "my diary"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"schema_version": 1', '"schema_version": 2', "schema_version: Input should be 1"),
        ('"emulated"', '"extra": 1, "emulated"', "extra: Extra inputs are not permitted"),
        ('"sums_sha256": "', '"sums_sha256": "x', "sums_sha256: String should match pattern"),
        ("{", "", "not JSON"),
        ("{", "[" * 100_000, "nested too deep"),
    ],
)
def test_a_baseline_of_another_form_is_exit_2(pair, tmp_path, old, new, problem):
    file = tmp_path / "baseline.json"
    run(pair[0].root, "--save-baseline", file)
    text = file.read_text()
    assert read_baseline(file)
    file.write_text(text.replace(old, new, 1))
    ended = run(file, pair[1].root)
    assert isinstance(ended.exception, UsageError)
    assert str(file) in str(ended.exception)
    assert problem in str(ended.exception)
    assert "\n" not in str(ended.exception)


def test_an_archive_that_is_not_as_its_checksums_say_is_exit_1(pair):
    a, b = pair
    assert run(a.root, b.root).exit_code == 0
    (b.root / "stages" / "ruff.log").write_text("changed")
    ended = run(a.root, b.root)
    assert isinstance(ended.exception, AssayError)
    assert ended.exception.exit_code == 1
    assert "stages/ruff.log: changed" in str(ended.exception)
    assert ended.output == ""


def drop(name: str) -> Change:
    return lambda archive: (archive.root / name).unlink()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (drop("SHA256SUMS"), "SHA256SUMS: missing"),
        (drop("manifest.json"), "no manifest.json"),
    ],
)
def test_what_is_no_archive_is_exit_2(pair, change: Change, problem: str):
    a, b = pair
    assert run(a.root, b.root).exit_code == 0
    change(b)
    ended = run(a.root, b.root)
    assert isinstance(ended.exception, UsageError)
    assert problem in str(ended.exception)


@pytest.mark.parametrize(
    ("words", "problem"),
    [(["A"], "name the archive or baseline"), (["A", "A", "--save-baseline", "x"], "leave out B")],
)
def test_what_is_asked_for_must_make_sense(pair, words, problem):
    ended = run(*(pair[0].root if word == "A" else word for word in words))
    assert isinstance(ended.exception, UsageError)
    assert problem in str(ended.exception)
    assert not Path("x").exists()


def test_json_is_valid_and_nothing_else_is(pair):
    a, b = pair
    lose_a_test(b)
    b.seal()
    ended = run(a.root, b.root, "--format", "json")
    assert ended.exit_code == 1
    printed = json.loads(ended.output)
    schema = json.loads(schemas.schema_file("comparison").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(printed)
    (unit,) = (stage for stage in printed["stages"] if stage["name"] == "unit")
    assert (unit["change"], unit["tests_a"], unit["tests_b"]) == ("broken", len(UNIT), len(UNIT) - 1)
    with pytest.raises(jsonschema.ValidationError, match="'extra' was unexpected"):
        validator.validate(printed | {"extra": 1})


def test_markdown_has_the_same_words_and_lets_no_archive_speak_markdown(pair):
    a, b = pair
    ended = run(a.root, b.root, "--format", "markdown")
    assert ended.exit_code == 0
    assert ended.output.startswith("## npu-assay compare: no regression\n")
    assert "\n| unit | pass | pass |" in ended.output
    evil = "| x | <img src=x> @everyone [a](b) **c** \x1b[31m\n# d"
    b.change_stage("native-high-level", settings={"rounds": evil})
    b.seal()
    printed = run(a.root, b.root, "--format", "markdown").output
    assert len(printed.splitlines()) > len(ended.output.splitlines())
    assert "img src" in printed
    for sign in ("<", "@", "\x1b", "**", "[a]", "\n# d", "| x |"):
        assert sign not in printed
    assert "\x1b" not in run(a.root, b.root).output


def test_a_merged_archive_is_as_a_run_of_its_shards(pair, tmp_path):
    whole, _ = pair
    shards = plant_shards(tmp_path / "shards")
    ended = run(whole.root, merged(shards, tmp_path / "merged"))
    assert ended.exit_code == 0
    for stage in whole.manifest.stages:
        assert f"\n{stage.name} " in ended.output
    assert " left out" not in ended.output
    assert "kv-offload native, cold       3       0 " in ended.output
    assert run(tmp_path / "merged", whole.root).exit_code == 0
    # One test less, in the shard that ran the stage.
    shard = shards[whose("native-transfer") - 1]
    shard.write("stages/native-transfer.junit.xml", junit({}))
    shard.seal()
    ended = run(whole.root, merged(shards, tmp_path / "worse"))
    assert ended.exit_code == 1
    (line,) = (one for one in ended.output.splitlines() if one.startswith("stage native-transfer: "))
    assert " lost, first " in line
    assert line.endswith(": passed in A, not there in B")


def test_a_shard_that_is_not_as_its_checksums_say_is_exit_1(pair, tmp_path):
    whole, _ = pair
    root = merged(plant_shards(tmp_path / "shards"), tmp_path / "merged")
    assert run(root, whole.root).exit_code == 0
    (root / "shards/2-of-2/environment.json").write_text("{}")
    ended = run(root, whole.root)
    assert isinstance(ended.exception, AssayError)
    assert "shards/2-of-2/environment.json: changed" in str(ended.exception)


def fail_in(shard: OffloadArchive) -> None:
    shard.change_stage("cann", status=StageStatus.FAIL, reason="exit code 1", exit_code=1)
    shard.seal()


def test_of_a_stage_that_each_shard_runs_the_worst_counts(pair, tmp_path):
    whole, _ = pair
    shards = plant_shards(tmp_path / "shards")
    assert run(whole.root, merged(shards, tmp_path / "good")).exit_code == 0
    fail_in(shards[1])
    ended = run(whole.root, merged(shards, tmp_path / "worse"))
    assert "stage cann: pass in A, fail in B" in ended.output
    assert ended.exit_code == 1
