"""The entry point: check the versions, then install what the parameters need.

vLLM calls `register` once in every process (engine, workers, model inspection), after the platform is
resolved and before a worker is made: `vllm/plugins/__init__.py`, `load_general_plugins`.
"""

import importlib.metadata

from vllm_ascend_params.compatibility import departures

DISTRIBUTION = "vllm_ascend_params"


def register() -> None:
    """Make the parameters work, or say in one warning why not. Calling it again changes nothing."""
    from vllm.logger import init_logger

    problems = departures(importlib.metadata.requires(DISTRIBUTION) or [])
    if problems:
        # Under vLLM's own logger, whose handlers are the ones that are configured.
        init_logger(f"vllm.{DISTRIBUTION}").warning(
            "%s leaves vLLM as it is: %s. Install the versions it was written for, or remove it.",
            DISTRIBUTION,
            "; ".join(problems),
        )
        return

    from vllm.config import VllmConfig

    from vllm_ascend_params.kv_offloading import install

    install(VllmConfig)
