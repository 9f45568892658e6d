"""The suites are green with the plug-in, and each fault they exist for turns them red."""

import itertools
import os
import re
from pathlib import Path
from typing import Any, ClassVar

import pytest
from suite_run import SuiteRun, run_suite

from npu_assay.environment.environment import Environment

pytestmark = [pytest.mark.environment, pytest.mark.e2e]

#: A plug-in of the tests, for PYTHONPATH: vllm-ascend's own handler in place of ours.
VENDOR_HANDLER = Path(__file__).parent / "fixtures" / "vendor_handler"

STORE_ORDER = "test_a_store_reads_what_compute_writes_before_it"
ROUND_TRIP = "test_blocks_come_back_after_the_device_was_overwritten[float32-keys-and-values-factor-1]"


class TestNativeTransfer:
    """Device to host and back, without an engine."""

    @staticmethod
    def run(environment: Environment, archive: Path, **changes: str) -> SuiteRun:
        return run_suite(environment.python, environment.variables() | changes, "native_transfer", archive)

    @pytest.fixture(scope="class")
    @classmethod
    def healthy(cls, environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> SuiteRun:
        return cls.run(environment, tmp_path_factory.mktemp("healthy"))

    def test_green_with_the_plugin(self, healthy: SuiteRun) -> None:
        assert healthy.returncode == 0, healthy.log
        assert not healthy.failed
        assert {STORE_ORDER, ROUND_TRIP} <= healthy.passed
        assert "libascendcl.so" in healthy.log.split("process-map: ", 1)[1]

    def test_red_without_the_plugin(
        self, healthy: SuiteRun, environment: Environment, tmp_path: Path
    ) -> None:
        variables = environment.variables(adaptations=False)
        run = run_suite(environment.python, variables, "native_transfer", tmp_path)
        assert run.returncode == 1, run.log
        assert {STORE_ORDER, ROUND_TRIP} <= run.failed
        assert "only supported on CUDA-alike GPUs" in run.log

    def test_red_when_one_byte_of_a_copy_to_the_device_is_flipped(
        self, healthy: SuiteRun, environment: Environment, tmp_path: Path
    ) -> None:
        # The first test puts three sets of four caches on the device; after them comes the first load.
        run = self.run(environment, tmp_path, EMUCANN_FAULT="flip-h2d:13")
        assert run.returncode == 1, run.log
        assert len(run.failed) == 1
        assert run.failed | run.passed == healthy.passed
        assert "bytes that differ in blocks" in run.log

    def test_red_when_one_byte_of_a_copy_to_the_host_is_flipped(
        self, healthy: SuiteRun, environment: Environment, tmp_path: Path
    ) -> None:
        run = self.run(environment, tmp_path, EMUCANN_FAULT="flip-d2h:1")
        assert run.returncode == 1, run.log
        assert len(run.failed) == 1
        assert run.failed | run.passed == healthy.passed

    def test_red_with_the_handler_that_does_not_wait_for_compute(
        self, healthy: SuiteRun, environment: Environment, tmp_path: Path
    ) -> None:
        path = os.pathsep.join([str(VENDOR_HANDLER), environment.variables().get("PYTHONPATH", "")])
        run = self.run(environment, tmp_path, PYTHONPATH=path)
        assert run.returncode == 1, run.log
        assert STORE_ORDER in run.failed
        # What it can do, it does: the fault is the missing wait.
        assert ROUND_TRIP in run.passed


class TestNativeHighLevel:
    """The engine."""

    SETTINGS: ClassVar[dict[str, Any]] = {"rounds": 1, "kv_offloading_size": 0.25}

    def test_green_with_the_plugin(self, environment: Environment, tmp_path: Path) -> None:
        settings = self.SETTINGS | {"rounds": 2}
        run = run_suite(environment.python, environment.variables(), "native_high_level", tmp_path, settings)
        assert run.returncode == 0, run.log
        first, second = run.rows("kv-offload")
        for number, row in enumerate((first, second), start=1):
            assert set(row) >= {
                "backend",
                "run",
                "prompt_tokens",
                "cold_cached_tokens",
                "reset_prefix_cache",
                "external_cached_tokens",
                "cold_token_ids",
                "external_token_ids",
                "cold_seconds",
                "external_seconds",
                "stored_tokens",
                "retrieved_tokens",
                "tensor_parallel_size",
            }
            assert (row["backend"], row["run"], row["prompt_tokens"]) == ("native", number, 300)
            assert (row["cold_cached_tokens"], row["reset_prefix_cache"]) == (0, True)
            assert row["external_cached_tokens"] == 256
            assert row["cold_token_ids"] == row["external_token_ids"]
            assert len(row["cold_token_ids"]) == 16
        assert first["cold_token_ids"] != second["cold_token_ids"]
        compared = run.rows("tokens-equal-cpu")
        assert len(compared) == 3
        assert all(row["npu_token_ids"] == row["cpu_token_ids"] for row in compared)
        # The engine core has the NPU in a process of its own, and that one's libraries are in the log too.
        _, *worker = run.log.split("process: worker 0 pid ", 1)[1].splitlines()
        libraries = list(itertools.takewhile(lambda line: line.startswith("process-map: "), worker))
        assert any("libascendcl.so" in line for line in libraries)

    def test_red_without_the_plugin(self, environment: Environment, tmp_path: Path) -> None:
        variables = environment.variables(adaptations=False)
        run = run_suite(environment.python, variables, "native_high_level", tmp_path, self.SETTINGS, "-x")
        assert run.returncode == 1, run.log
        assert "test_round[1]" in run.failed
        assert not (run.archive / "results" / "kv-offload.jsonl").exists()

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"round": 1}, "round: .*; settings are model, prompt_tokens"),
            ({"rounds": 0}, "rounds: .* greater than 0"),
        ],
    )
    def test_a_wrong_setting_is_one_line_and_bad_input(
        self, environment: Environment, tmp_path: Path, settings: dict[str, Any], message: str
    ) -> None:
        run = run_suite(environment.python, environment.variables(), "native_high_level", tmp_path, settings)
        assert run.returncode == 2
        assert re.search(message, run.log)
