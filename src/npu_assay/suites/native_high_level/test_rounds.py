"""Cold, local prefix cache lost, back from host memory: the same tokens."""

import hashlib
import json

from offloading_engine import OffloadingEngine
from support.stage import Stage


def test_round(engine: OffloadingEngine, stage: Stage, run: int) -> None:
    prompt = engine.prompt(run)
    cold = engine.generate(prompt)
    reset = engine.reset_prefix_cache()
    # From here on only host memory has the prompt's keys and values.
    engine.overwrite_kv_cache()
    external = engine.generate(prompt)
    engine.print_prompt_tokens_by_source(run)

    stage.append_row(
        "kv-offload",
        {
            "backend": "native",
            "run": run,
            "prompt_tokens": len(prompt),
            "prompt_sha256": hashlib.sha256(json.dumps(prompt).encode()).hexdigest(),
            "cold_cached_tokens": cold.cached_tokens,
            "reset_prefix_cache": reset,
            "external_cached_tokens": external.cached_tokens,
            "cold_token_ids": cold.token_ids,
            "external_token_ids": external.token_ids,
            "cold_seconds": cold.seconds,
            "external_seconds": external.seconds,
            "stored_tokens": None,  # the native backend logs neither
            "retrieved_tokens": None,
            "tensor_parallel_size": engine.settings.tensor_parallel_size,
        },
    )
    assert cold.cached_tokens == 0
    assert reset is True
    assert external.cached_tokens == engine.offloadable_tokens
    assert len(cold.token_ids) == engine.settings.max_tokens
    assert external.token_ids == cold.token_ids


def test_the_offloaded_part_of_a_prompt_decides_the_tokens(engine: OffloadingEngine) -> None:
    """Otherwise equal tokens would say nothing about what came back from host memory."""
    rounds = engine.settings.rounds
    one, other = engine.prompt(rounds + 1), engine.prompt(rounds + 2)
    offloaded = engine.offloadable_tokens
    mixed = other[:offloaded] + one[offloaded:]
    assert one != mixed
    assert engine.generate(one).token_ids != engine.generate(mixed).token_ids
