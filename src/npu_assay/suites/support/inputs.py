"""What a stage read, for the manifest: stages/<stage>.inputs.json, see npu_assay/evidence/stage_inputs.py."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Prompts:
    """Prompts as token ids, and how they were made."""

    source: str
    revision: str
    rows: Sequence[Sequence[int]]

    @property
    def sha256(self) -> str:
        """Of the prompts as JSON Lines."""
        lines = "".join(json.dumps(list(row)) + "\n" for row in self.rows)
        return hashlib.sha256(lines.encode()).hexdigest()


def files_of(folder: Path) -> dict[str, dict[str, str | int]]:
    """Return sha256 and size of every file of a small model's folder."""
    return {
        path.relative_to(folder).as_posix(): {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "size": path.stat().st_size,
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_inputs(file: Path, models: Mapping[str, Path], datasets: Mapping[str, Prompts]) -> None:
    """Write the file; models by their folders."""
    document = {
        "schema_version": 1,
        "models": [{"name": name, "files": files_of(folder)} for name, folder in models.items()],
        "datasets": [
            {
                "name": name,
                "source": prompts.source,
                "revision": prompts.revision,
                "rows": len(prompts.rows),
                "sha256": prompts.sha256,
            }
            for name, prompts in datasets.items()
        ],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
