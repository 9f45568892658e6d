"""The pipeline `engine`: a whole archive passes, and each thing it stands for makes it fail."""

import pytest
from offload_archive import Change, OffloadArchive, messages
from planted_run import manifest_of

from npu_assay.claims.findings import Result
from npu_assay.evidence.manifest import StageStatus


@pytest.fixture
def engine(offload: OffloadArchive) -> OffloadArchive:
    """An emulated run of the pipeline, made from one of kv-offload."""
    source = offload.manifest.source
    offload.manifest = manifest_of("emulated", offload.checkout, "engine").model_copy(
        update={"source": source}
    )
    offload.write_inputs()
    (offload.root / "stages/native-high-level.inputs.json").rename(offload.root / "stages/engine.inputs.json")
    for suffix in ("log", "junit.xml"):
        (offload.root / "stages" / f"native-high-level.{suffix}").unlink()
    for name in (
        "compileall.log",
        "vllm-ascend-ut.log",
        "vllm-ascend-ut.junit.xml",
        "unit.log",
        "unit.junit.xml",
        "native-transfer.log",
        "native-transfer.junit.xml",
    ):
        (offload.root / "stages" / name).unlink()
    (offload.root / "results" / "kv-offload.jsonl").unlink()
    offload.write_tests("engine")
    return offload


def test_a_whole_run_passes(engine: OffloadArchive) -> None:
    verdict = engine.verdict()
    assert messages(verdict, Result.FAIL) == []
    assert verdict.result is Result.PASS
    assert "cpu-tokens/2: prompt of 7 tokens: 16 token ids as on the CPU" in "\n".join(
        messages(verdict, Result.PASS)
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda run: run.replace(
                "results/tokens-equal-cpu.jsonl", '"npu_token_ids": [5, 6, 5', '"npu_token_ids": [5, 7, 5'
            ),
            "cpu-tokens/2: prompt of 7 tokens: NPU [5, 7, 5",
        ),
        (
            lambda run: run.replace("stages/engine.log", "4 passed", "3 passed, 1 failed"),
            "tests/2: engine: 3 passed",
        ),
        (lambda run: run.replace("stages/engine.log", "/libascendcl.so", "/other.so"), "identity/2: no line"),
        (
            lambda run: run.replace("stages/versions-and-paths.log", "vllm 0.18.0", "vllm 0.22.1"),
            "versions/3: vllm: 0.22.1 was loaded, the run asks for 0.18.0",
        ),
        (
            lambda run: run.change_stage("engine", status=StageStatus.FAIL, exit_code=1),
            "stages/1: engine: fail",
        ),
    ],
    ids=["tokens", "a test", "another CANN", "another vLLM", "the stage"],
)
def test_a_fault_fails(engine: OffloadArchive, change: Change, says: str) -> None:
    change(engine)
    verdict = engine.verdict()
    assert verdict.result is Result.FAIL
    assert says in "\n".join(messages(verdict, Result.FAIL))


def test_without_a_comparison_nothing_is_claimed(engine: OffloadArchive) -> None:
    engine.remove_comparisons("engine")
    verdict = engine.verdict()
    assert verdict.result is Result.INCONCLUSIVE
    assert "were not compared" in "\n".join(messages(verdict, Result.INCONCLUSIVE))
