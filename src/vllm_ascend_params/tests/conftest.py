"""Fixtures for the plug-in's tests. They need the environment's Python, which has vLLM."""

import json

import pytest
from vllm.config import ModelConfig, VllmConfig


@pytest.fixture
def stock_config() -> type[VllmConfig]:
    """vLLM's config class as a subclass of its own, so that wrapping it reaches no other test."""
    return type("StockConfig", (VllmConfig,), {})


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    """A model without weights: vllm-ascend reads its shape wherever a KVTransferConfig is given."""
    folder = tmp_path_factory.mktemp("model")
    shape = {"vocab_size": 64, "hidden_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1}
    text = json.dumps(
        {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "num_hidden_layers": 1, **shape}
    )
    (folder / "config.json").write_text(text)
    return ModelConfig(model=str(folder), skip_tokenizer_init=True, enforce_eager=True)
