"""Is a folder a whole model, in Hugging Face's layout, and which one? Looked at before anything starts."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from npu_assay.digest import sha256_of
from npu_assay.errors import UsageError
from npu_assay.model.files import check_file, read_object
from npu_assay.model.weights import weights_of

#: Beside the weights, what decides what a model answers: configurations, vocabularies, templates, code.
_COUNTING = frozenset((".json", ".jinja", ".model", ".py", ".tiktoken", ".txt"))
_TOKENIZERS = (("tokenizer.json",), ("tokenizer.model",), ("vocab.json", "merges.txt"))
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_LAYOUT = "name the folder of a model in Hugging Face's layout"


@dataclass(frozen=True)
class Model:
    """A whole model."""

    folder: Path
    """Absolute; its links are not resolved."""
    architectures: tuple[str, ...]
    model_type: str
    files: tuple[str, ...]
    """The names of all files that count, sorted."""

    @property
    def size(self) -> int:
        """Bytes of all files that count."""
        return sum((self.folder / name).stat().st_size for name in self.files)


def check_model(folder: Path) -> Model:
    """Look at configuration, tokenizer and every file of weights.

    Raises UsageError with the first thing that is wrong, or missing, and what mends it.
    """
    _check_folder(folder)
    config = folder / "config.json"
    architectures, model_type = _read_config(config)
    _check_tokenizer(folder)
    names = {*weights_of(folder)}
    for path in folder.iterdir():
        if path.suffix in _COUNTING and not path.is_dir():
            check_file(path)
            names.add(path.name)
    return Model(folder.absolute(), architectures, model_type, tuple(sorted(names)))


def hash_files(model: Model, tell: Callable[[str], None] = lambda name: None) -> dict[str, str]:
    """The sha256 of every file that counts; `tell` is told the name of each that is being read.

    Raises UsageError for one that can't be read any more.
    """
    hashes = {}
    for name in model.files:
        tell(name)
        try:
            hashes[name] = sha256_of(model.folder / name)
        except OSError as error:
            raise UsageError(f"{model.folder / name}: can't be read ({error.strerror})") from error
    return hashes


def _check_folder(folder: Path) -> None:
    try:
        inside = {path.name for path in folder.iterdir()}
    except FileNotFoundError as error:
        advice = _LAYOUT
        if _HUB_NAME.fullmatch(str(folder)):
            advice = (
                f"a run downloads nothing; type: hf download {folder} --local-dir DIR, and give --model DIR"
            )
        raise UsageError(f"--model {folder}: no such folder; {advice}") from error
    except NotADirectoryError as error:
        raise UsageError(f"--model {folder}: no folder, but a file; {_LAYOUT}") from error
    except OSError as error:
        raise UsageError(f"--model {folder}: can't be read ({error.strerror})") from error
    if "config.json" in inside:
        return
    if snapshots := sorted((folder / "snapshots").glob("*/config.json")):
        raise UsageError(
            f"--model {folder}: a model's cache; name its snapshot: --model {snapshots[-1].parent}"
        )
    raise UsageError(f"--model {folder}: no config.json there; {_LAYOUT}")


def _read_config(path: Path) -> tuple[tuple[str, ...], str]:
    config = read_object(path)
    architectures, model_type = config.get("architectures"), config.get("model_type")
    if not (
        isinstance(architectures, list)
        and architectures
        and all(isinstance(name, str) and name for name in architectures)
    ):
        raise UsageError(f"{path}: architectures is {architectures}, expected the name of one at least")
    if not isinstance(model_type, str) or not model_type:
        raise UsageError(f"{path}: model_type is {model_type}, expected a name")
    return tuple(architectures), model_type


def _check_tokenizer(folder: Path) -> None:
    there = [names for names in _TOKENIZERS if all(_is_there(folder / name) for name in names)]
    if not there:
        expected = ", or ".join(" and ".join(names) for names in _TOKENIZERS)
        raise UsageError(f"{folder}: no tokenizer; expected {expected}")
    for name in (*there[0], "tokenizer_config.json"):
        (read_object if name.endswith(".json") else check_file)(folder / name)


def _is_there(path: Path) -> bool:
    """Also a link that leads nowhere, which check_file explains."""
    return path.is_symlink() or path.exists()
