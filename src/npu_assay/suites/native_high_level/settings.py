"""What can be set for this suite: `--model DIR`, and `--set native-high-level.KEY=VALUE`."""

from pydantic import Field, PositiveFloat, PositiveInt
from support.engine_settings import EngineSettings


class Settings(EngineSettings):
    """The suite's settings beside those of every engine."""

    rounds: PositiveInt = Field(3, description="rounds, each with a prompt of its own")
    kv_offloading_size: PositiveFloat = Field(4, description="GiB of host memory, over all ranks")
