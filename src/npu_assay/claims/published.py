"""The rules for an archive, by pipeline; a published result is what one of them reproduces."""

from npu_assay.claims.offload import FILE as OFFLOAD_ROUNDS
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.artefacts import ArtefactsRule
from npu_assay.claims.rules.cann import CannRule
from npu_assay.claims.rules.contents import ContentsRule
from npu_assay.claims.rules.cpu_tokens import FILE as CPU_TOKENS
from npu_assay.claims.rules.cpu_tokens import CpuTokensRule
from npu_assay.claims.rules.health import HealthRule
from npu_assay.claims.rules.identity import IdentityRule
from npu_assay.claims.rules.image import ImageRule
from npu_assay.claims.rules.inputs import InputsRule
from npu_assay.claims.rules.lock import LockRule
from npu_assay.claims.rules.offload_log import OffloadLogRule
from npu_assay.claims.rules.offload_rounds import OffloadRoundsRule
from npu_assay.claims.rules.pipeline import PipelineRule
from npu_assay.claims.rules.protocol import ProtocolRule
from npu_assay.claims.rules.pytest_stages import PytestRule
from npu_assay.claims.rules.results import ResultsRule
from npu_assay.claims.rules.run_junit import RunJunitRule
from npu_assay.claims.rules.source import SourceRule
from npu_assay.claims.rules.stages import StagesRule
from npu_assay.claims.rules.static_checks import CompileallRule, RuffRule
from npu_assay.claims.rules.times import TimesRule
from npu_assay.claims.rules.unit_tests import UnitTestsRule
from npu_assay.claims.rules.versions import VersionsRule

_COMPONENTS = ("torch", "torch-npu", "triton-ascend", "vllm", "vllm-ascend")


def _of_any_run(stages: tuple[str, ...], device_stages: tuple[str, ...]) -> tuple[Rule, ...]:
    """What holds for every result: its stages ran, in this environment, on these devices, from these inputs.

    `device_stages` are those of `stages` whose processes use the device.
    """
    return (
        StagesRule(stages),
        RunJunitRule(),
        LockRule(),
        ImageRule(),
        PipelineRule(),
        InputsRule(),
        CannRule(),
        IdentityRule(device_stages),
        VersionsRule(_COMPONENTS),
        SourceRule(),
        ArtefactsRule(),
        HealthRule(),
        RuffRule(),
    )


#: KV cache offloading to the host, native backend, one Ascend 910B3: three rounds with prompts of 300 tokens.
_KV_OFFLOAD: tuple[Rule, ...] = (
    *_of_any_run(
        (
            "cann",
            "build",
            "versions-and-paths",
            "health",
            "ruff",
            "compileall",
            "vllm-ascend-ut",
            "unit",
            "native-transfer",
            "native-high-level",
            "health-after",
        ),
        device_stages=("native-transfer", "native-high-level"),
    ),
    CompileallRule(),
    UnitTestsRule(),
    PytestRule(("unit", "native-transfer", "native-high-level")),
    ResultsRule(),
    OffloadRoundsRule("native"),
    OffloadLogRule(),
    CpuTokensRule("native-high-level"),
    TimesRule(),
    ContentsRule((OFFLOAD_ROUNDS, CPU_TOKENS)),
    ProtocolRule("native-high-level", {"rounds": 3, "prompt_tokens": 300}),
)

#: No published result: that the environment's engine runs, and computes what the CPU does.
_ENGINE: tuple[Rule, ...] = (
    *_of_any_run(
        ("cann", "build", "versions-and-paths", "health", "ruff", "engine", "health-after"),
        device_stages=("engine",),
    ),
    PytestRule(("engine",)),
    ResultsRule(),
    CpuTokensRule("engine"),
    TimesRule(),
    ContentsRule((CPU_TOKENS,)),
)

#: By the pipeline's name. A new published result is a line here: CONTRIBUTING.md, "Adding a rule".
RULES_OF_PIPELINE = {"kv-offload": _KV_OFFLOAD, "engine": _ENGINE}
