"""The same prompt again comes from the prefix cache and gets the same tokens; another one doesn't."""

from support.engine import Engine


def test_the_same_prompt_again(engine: Engine) -> None:
    cold, again = engine.generate(engine.prompt(1)), engine.generate(engine.prompt(1))
    assert cold.cached_tokens == 0
    assert (
        again.cached_tokens == engine.settings.prompt_tokens // engine.block_tokens * engine.block_tokens > 0
    )
    assert again.token_ids == cold.token_ids
    assert len(cold.token_ids) == engine.settings.max_tokens
    other = engine.generate(engine.prompt(2))
    assert other.cached_tokens == 0
    assert other.token_ids != cold.token_ids
