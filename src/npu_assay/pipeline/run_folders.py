"""Where the logs and caches of CANN, Triton, PyTorch and vLLM go: into the run's work folder, never into the
user's home, where runs would find each other's.

| variable | what is put there |
| --- | --- |
| ASCEND_PROCESS_LOG_PATH | CANN's plog (else $HOME/ascend/log); a folder of its own for each stage |
| ASCEND_CACHE_PATH | caches of compiled operators, kernel_cache (else $HOME/atc_data) |
| TRITON_HOME | Triton's dumps and overrides, and its cache (else ~/.triton) |
| TORCHINDUCTOR_CACHE_DIR | what torch.compile generates (else in /tmp) |
| VLLM_CACHE_ROOT | vLLM's caches: model infos, graphs, assets (else ~/.cache/vllm) |

CANN writes kernel_meta, fusion_result.json and profiles into the current folder, which is the stage's scratch
folder. ASCEND_WORK_PATH would name a place for them as well, and is left as the user has it: where it is set,
CANN's dumper of kernels' diagnostics is switched on (Ascend's open source of libascend_dump,
kernel_dfx_dumper.cpp), and a run measures without it. Nothing but that variable moves $HOME/ascend/atrace.

Sources: CANN 9.0, maintenance reference, environment variables ASCEND_PROCESS_LOG_PATH, ASCEND_CACHE_PATH and
ASCEND_WORK_PATH; triton/runtime/cache.py; torch/_inductor/runtime/cache_dir_utils.py; vllm/envs.py. CANN
documents letters, digits, `_`, `-` and `.` for its paths: an archive elsewhere may have no log of it.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunFolders:
    """The folders of a run in its work folder; no stage's name has a dot in it, as theirs have."""

    work: Path
    model_infos: Path | None = None
    """A folder that outlives the run, for what vLLM's registry finds out of model classes: by the digest of
    the class's file, in a process of its own that takes some ten seconds. None: found out anew.
    """

    @property
    def caches(self) -> Path:
        """Shared by the stages of the run, so that what one has compiled the next one need not."""
        return self.work / "run.caches"

    def scratch(self, stage: str) -> Path:
        """The stage's current folder."""
        return self.work / stage

    def plog(self, stage: str) -> Path:
        """CANN's logs of the stage's processes."""
        return self.work / f"{stage}.plog"

    def settings(self, stage: str) -> Path:
        """The stage's settings as JSON."""
        return self.work / f"{stage}.settings.json"

    def variables(self, stage: str) -> dict[str, str]:
        """Of a stage. Its folders are made, as CANN wants to find them."""
        triton = self.caches / "triton"
        places = {
            "ASCEND_PROCESS_LOG_PATH": self.plog(stage),
            "ASCEND_CACHE_PATH": self.caches / "ascend",
            "TRITON_HOME": triton,
            # Which goes before TRITON_HOME, and may be set for the user's own work.
            "TRITON_CACHE_DIR": triton / ".triton" / "cache",
            "TORCHINDUCTOR_CACHE_DIR": self.caches / "torchinductor",
            "VLLM_CACHE_ROOT": self.caches / "vllm",
        }
        for folder in places.values():
            folder.mkdir(parents=True, exist_ok=True)
        link = places["VLLM_CACHE_ROOT"] / "modelinfos"  # vllm/model_executor/models/registry.py
        if self.model_infos is not None and not link.exists():
            with suppress(OSError):  # an environment that this user may not write, or a second stage
                self.model_infos.mkdir(exist_ok=True)
                link.symlink_to(self.model_infos)
        return {name: str(folder) for name, folder in places.items()}
