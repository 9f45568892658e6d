"""From `--kv-offloading-size` and `--kv-offloading-backend` to a connector and a spec."""

import copy
import dataclasses
import math

import pytest
from vllm.config import CacheConfig, KVTransferConfig, ModelConfig, SchedulerConfig, VllmConfig

from vllm_ascend_params.kv_offloading import SPEC_MODULE, SPEC_NAME, install


def cache(size: float | None, backend: str = "native") -> CacheConfig:
    return CacheConfig(block_size=128, kv_offloading_size=size, kv_offloading_backend=backend)


def test_native_gets_the_spec_for_ascend(stock_config: type[VllmConfig]) -> None:
    install(stock_config)
    config = stock_config(cache_config=cache(4))
    transfer = config.kv_transfer_config
    assert (transfer.kv_connector, transfer.kv_role) == ("OffloadingConnector", "kv_both")
    assert transfer.kv_connector_extra_config == {
        "cpu_bytes_to_use": 4 * 2**30,
        "spec_name": SPEC_NAME,
        "spec_module_path": SPEC_MODULE,
    }
    assert type(transfer.kv_connector_extra_config["cpu_bytes_to_use"]) is int
    # OffloadingConnector can't work with the hybrid manager: vLLM's factory would refuse the pair.
    assert config.scheduler_config.disable_hybrid_kv_cache_manager is True


def test_vllm_alone_leaves_it_at_the_spec_for_cuda(stock_config: type[VllmConfig]) -> None:
    config = stock_config(cache_config=cache(4))
    assert "spec_name" not in config.kv_transfer_config.kv_connector_extra_config
    assert config.scheduler_config.disable_hybrid_kv_cache_manager is False


@pytest.mark.parametrize("size", [0, -1, -0.5, math.nan, math.inf, -math.inf])
def test_a_size_that_is_no_amount_is_refused_by_name(stock_config: type[VllmConfig], size: float) -> None:
    install(stock_config)
    assert stock_config(cache_config=cache(0.25)).kv_transfer_config is not None
    with pytest.raises(
        ValueError, match=rf"--kv-offloading-size {float(size)}: expected a number of GiB above 0"
    ):
        stock_config(cache_config=cache(size))


OWN_CONNECTOR = {
    "kv_connector": "OffloadingConnector",
    "kv_role": "kv_both",
    "kv_connector_extra_config": {
        "num_cpu_blocks": 64,
        "spec_name": "MySpec",
        "spec_module_path": "my.module",
    },
}


@pytest.mark.parametrize(
    ("size", "backend", "transfer"),
    [
        pytest.param(None, "native", None, id="no offloading"),
        pytest.param(4, "lmcache", None, id="another backend"),
        pytest.param(None, "native", OWN_CONNECTOR, id="an explicit KVTransferConfig"),
        pytest.param(4, "lmcache", OWN_CONNECTOR, id="an explicit KVTransferConfig and another backend"),
    ],
)
def test_other_configs_come_out_as_without_the_plugin(
    stock_config: type[VllmConfig],
    model: ModelConfig,
    size: float | None,
    backend: str,
    transfer: dict | None,
) -> None:
    def outcome() -> tuple[dict | None, bool | None]:
        config = stock_config(
            model_config=model,
            cache_config=cache(size, backend),
            kv_transfer_config=transfer and KVTransferConfig(**copy.deepcopy(transfer)),
        )
        made = config.kv_transfer_config and dataclasses.asdict(config.kv_transfer_config)
        if made:
            del made["engine_id"]  # drawn anew for every config
        return made, config.scheduler_config.disable_hybrid_kv_cache_manager

    before = outcome()
    install(stock_config)
    assert outcome() == before


def test_a_spec_that_the_user_names_wins(stock_config: type[VllmConfig], model: ModelConfig) -> None:
    install(stock_config)
    own = KVTransferConfig(**copy.deepcopy(OWN_CONNECTOR))
    config = stock_config(model_config=model, cache_config=cache(1), kv_transfer_config=own)
    extra = config.kv_transfer_config.kv_connector_extra_config
    assert extra == OWN_CONNECTOR["kv_connector_extra_config"] | {"cpu_bytes_to_use": 2**30}


def test_a_user_who_demands_the_hybrid_manager_is_not_overruled(stock_config: type[VllmConfig]) -> None:
    install(stock_config)
    scheduler = SchedulerConfig.default_factory(disable_hybrid_kv_cache_manager=False)
    config = stock_config(cache_config=cache(1), scheduler_config=scheduler)
    assert config.scheduler_config.disable_hybrid_kv_cache_manager is False


def test_installing_twice_is_installing_once(stock_config: type[VllmConfig]) -> None:
    stock = stock_config.__post_init__
    install(stock_config)
    once = stock_config.__post_init__
    install(stock_config)
    assert stock_config.__post_init__ is once
    assert once is not stock


def test_a_config_made_from_a_config_is_the_same(stock_config: type[VllmConfig]) -> None:
    install(stock_config)
    first = stock_config(cache_config=cache(2))
    before = copy.deepcopy(first.kv_transfer_config)
    first.__post_init__()
    assert first.kv_transfer_config.kv_connector_extra_config == before.kv_connector_extra_config
