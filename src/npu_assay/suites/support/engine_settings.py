"""What can be set for a suite that runs an engine: `--model DIR`, and `--set STAGE.KEY=VALUE`."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt


class EngineSettings(BaseModel):
    """The settings; a key that isn't here is an error."""

    model_config = ConfigDict(extra="forbid")

    model: Path | None = Field(None, description="folder of a model; without one the tiny model is made")
    prompt_tokens: int = Field(300, ge=2, description="tokens of each prompt")
    max_tokens: PositiveInt = Field(16, description="tokens to generate")
    max_model_len: PositiveInt = Field(1024, description="tokens of prompt and answer")
    tensor_parallel_size: PositiveInt = Field(1, description="NPUs")
    gpu_memory_utilization: PositiveFloat = Field(0.5, le=1, description="share of the NPU's memory for vLLM")
    num_gpu_blocks: PositiveInt | None = Field(
        None,
        description="KV blocks on the NPU; without it few for the tiny model or the emulator, else all",
    )
    dtype: str | None = Field(
        None, description="without it the model's own; for the tiny one float32 if emulated, else bfloat16"
    )
    seed: int = Field(0, description="of the tiny model and of the prompts")
