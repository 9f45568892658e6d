"""Published results: the rules for an archive, by the pipeline that reproduces the result."""

from npu_assay.claims.artefacts import ArtefactsRule
from npu_assay.claims.cpu_tokens import CpuTokensRule
from npu_assay.claims.health import HealthRule
from npu_assay.claims.identity import IdentityRule
from npu_assay.claims.offload_rounds import OffloadRoundsRule
from npu_assay.claims.protocol import ProtocolRule
from npu_assay.claims.pytest_stages import PytestRule
from npu_assay.claims.rule import Rule
from npu_assay.claims.stages import StagesRule
from npu_assay.claims.static_checks import CompileallRule, RuffRule
from npu_assay.claims.versions import VersionsRule

#: KV cache offloading to the host, native backend, one Ascend 910B3: three rounds with prompts of 300 tokens.
_KV_OFFLOAD: tuple[Rule, ...] = (
    StagesRule(
        ("versions-and-paths", "health", "ruff", "compileall", "unit", "native-transfer", "native-high-level")
    ),
    IdentityRule(("native-transfer", "native-high-level")),
    VersionsRule(("torch", "torch-npu", "triton-ascend", "vllm", "vllm-ascend")),
    ArtefactsRule(),
    HealthRule(),
    RuffRule(),
    CompileallRule(),
    PytestRule(("unit", "native-transfer", "native-high-level")),
    OffloadRoundsRule("native"),
    CpuTokensRule(),
    ProtocolRule("native-high-level", {"rounds": 3, "prompt_tokens": 300}),
)

RULES_OF_PIPELINE = {"kv-offload": _KV_OFFLOAD}
