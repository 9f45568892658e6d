"""`--kv-offloading-size` with `--kv-offloading-backend native`, brought to this package's offloading spec.

vLLM 0.18 turns the two flags into a KVTransferConfig at the end of `VllmConfig.__post_init__`
(`_post_init_kv_transfer_config`, vllm/config/vllm.py). On Ascend that fails twice: the spec it ends at
refuses anything but CUDA (vllm/v1/kv_offload/cpu.py), and the connector comes too late to switch off the
hybrid KV cache manager, which OffloadingConnector can't work with (kv_connector/factory.py). So the manager's
default is settled before `__post_init__`, and the spec is named after it.
"""

import functools

from vllm.config import VllmConfig

from vllm_ascend_params.budget import bytes_of_gib

SPEC_NAME = "AscendCPUOffloadingSpec"
SPEC_MODULE = "vllm_ascend_params.spec"

_MARK = "_vllm_ascend_params"


def install(config_class: type[VllmConfig]) -> None:
    """Make every new config of this class that asks for native offloading one that works on Ascend.

    A second call changes nothing. The new configs raise ValueError for a size that is not a finite number
    above zero.
    """
    original = config_class.__post_init__
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def __post_init__(self: VllmConfig) -> None:
        if not _asks_for_native(self):
            return original(self)
        budget = bytes_of_gib(self.cache_config.kv_offloading_size)
        _prefer_no_hybrid_manager(self)
        original(self)
        _name_spec(self, budget)

    setattr(__post_init__, _MARK, True)
    config_class.__post_init__ = __post_init__


def _asks_for_native(config: VllmConfig) -> bool:
    cache = config.cache_config
    return cache.kv_offloading_size is not None and cache.kv_offloading_backend == "native"


def _prefer_no_hybrid_manager(config: VllmConfig) -> None:
    """Do what vLLM does where it sees a connector in time: off, unless the user says otherwise."""
    if config.scheduler_config.disable_hybrid_kv_cache_manager is None:
        config.scheduler_config.disable_hybrid_kv_cache_manager = True


def _name_spec(config: VllmConfig, budget: int) -> None:
    """Name the spec for Ascend, unless the user's KVTransferConfig names one, and the bytes as an int."""
    extra = config.kv_transfer_config.kv_connector_extra_config
    if "spec_name" not in extra:
        extra.update(spec_name=SPEC_NAME, spec_module_path=SPEC_MODULE)
    extra["cpu_bytes_to_use"] = budget
