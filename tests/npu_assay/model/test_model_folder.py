"""A whole model in every layout, and one line for everything that may be wrong with one."""

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from other_user import as_another_user
from planted_model import LFS_POINTER, into_hub_cache, plant_model, safetensors

from npu_assay.errors import UsageError
from npu_assay.model.folder import check_model, hash_files
from npu_assay.model.safetensors import parse_header

SHARD = "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"


def vocabulary_and_merges(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.json").write_text("{}")
    (folder / "merges.txt").write_text("a b\n")


def sentencepiece(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "tokenizer.model")


def pickles(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with zipfile.ZipFile(folder / "pytorch_model.bin", "w") as file:
        file.writestr("archive/data.pkl", "")


def quantised(folder: Path) -> None:
    """As msmodelslim leaves them: with a description, and names of its own."""
    (folder / "quant_model_description.json").write_text('{"model_quant_type": "W8A8"}')
    (folder / "model.safetensors").rename(folder / "quant_model_weight_w8a8.safetensors")
    index = {"weight_map": {"embed": "quant_model_weight_w8a8.safetensors"}}
    (folder / "quant_model_weight_w8a8.safetensors.index.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("shards", "change", "file"),
    [
        (1, lambda folder: None, "model.safetensors"),
        (2, lambda folder: None, INDEX),
        (2, lambda folder: (folder / INDEX).unlink(), SHARD),
        (1, vocabulary_and_merges, "merges.txt"),
        (1, sentencepiece, "tokenizer.model"),
        (1, pickles, "pytorch_model.bin"),
        (1, quantised, "quant_model_description.json"),
    ],
)
def test_a_whole_model_is_known_by_its_files(tmp_path, shards, change, file):
    folder = plant_model(tmp_path / "qwen", shards=shards)
    change(folder)
    model = check_model(folder)
    assert (model.architectures, model.model_type) == (("Qwen2ForCausalLM",), "qwen2")
    assert {"config.json", "tokenizer_config.json", file} <= set(model.files)
    assert "README.md" not in model.files
    assert model.size == sum((folder / name).stat().st_size for name in model.files)


def test_every_file_that_counts_is_hashed_once(tmp_path):
    model = check_model(plant_model(tmp_path, shards=2))
    told: list[str] = []
    hashes = hash_files(model, told.append)
    assert told == list(hashes) == list(model.files)
    assert hashes[SHARD] == hashlib.sha256((tmp_path / SHARD).read_bytes()).hexdigest()
    (tmp_path / SHARD).unlink()
    with pytest.raises(UsageError, match=f"{SHARD}: can't be read"):
        hash_files(model)


def test_a_snapshot_in_the_hubs_cache_is_a_model_and_the_cache_itself_names_it(tmp_path):
    cache = tmp_path / "models--Qwen--tiny"
    snapshot = into_hub_cache(plant_model(tmp_path / "flat", shards=2), cache)
    assert SHARD in check_model(snapshot).files
    with pytest.raises(UsageError, match=rf"a model's cache; name its snapshot: --model {snapshot}$"):
        check_model(cache)
    (snapshot / SHARD).resolve().unlink()
    with pytest.raises(UsageError, match=rf"{SHARD}: a link to \.\./\.\./blobs/\S+, which is not there"):
        check_model(snapshot)


def cut(name: str, to: int) -> Callable[[Path], None]:
    return lambda folder: os.truncate(folder / name, to)


def write(name: str, content: bytes | str) -> Callable[[Path], None]:
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / name).write_bytes(data)


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def index_of(**tensors: object) -> Callable[[Path], None]:
    return write(INDEX, json.dumps({"weight_map": tensors}))


def without_weights(folder: Path) -> None:
    for path in folder.glob("*.safetensors*"):
        path.unlink()


def a_cut_pickle(folder: Path) -> None:
    without_weights(folder)
    (folder / "pytorch_model.bin").write_bytes(b"PK\x03\x04 and no end")


def a_shard_without_its_siblings(folder: Path) -> None:
    (folder / INDEX).unlink()
    (folder / SHARD).unlink()


def a_folder_in_its_place(folder: Path) -> None:
    (folder / SHARD).unlink()
    (folder / SHARD).mkdir()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (remove("config.json"), "no config.json there; name the folder of a model in Hugging Face's layout"),
        (write("config.json", "{"), "config.json: no JSON ("),
        (write("config.json", "[]"), "config.json: expected a JSON object, found list"),
        (write("config.json", "[" * 100_000), "config.json: no JSON ("),
        (write("config.json", '{"model_type": "qwen2"}'), "architectures is None, expected the name"),
        (write("config.json", '{"architectures": ["Q"]}'), "model_type is None, expected a name"),
        (write("config.json", LFS_POINTER), "a git-lfs pointer in the file's place; type there: git"),
        (remove("tokenizer.json"), "no tokenizer; expected tokenizer.json, or tokenizer.model, or vo"),
        (write("tokenizer.json", b"\xff{}"), "tokenizer.json: no JSON ("),
        (remove("tokenizer_config.json"), "tokenizer_config.json: missing; download the model again"),
        (write("generation_config.json", ""), "generation_config.json: empty; download the model again"),
        (without_weights, "no weights; expected model.safetensors, or model.safetensors.index.json with"),
        (remove(SHARD), f"{SHARD}: missing; download the model again"),
        (write(SHARD, ""), f"{SHARD}: empty"),
        (write(SHARD, LFS_POINTER), f"{SHARD}: a git-lfs pointer in the file's place"),
        (cut(SHARD, 5), f"{SHARD}: no safetensors file, by its first bytes"),
        (cut(SHARD, 40), f"{SHARD}: cut short at 40 bytes, its header alone ends at "),
        (cut(SHARD, len(safetensors(["layer.1"])) - 1), f"{SHARD}: cut short at "),
        (write(SHARD, safetensors(["layer.1"]) + b"more"), "bytes, but its header says "),
        (write(SHARD, b"<html>no model</html>"), f"{SHARD}: no safetensors file, by its first bytes b'<htm"),
        (write(SHARD, safetensors(["layer.7"])), f"{SHARD}: has no layer.1, which the index looks for in it"),
        (a_folder_in_its_place, f"{SHARD}: "),
        (a_shard_without_its_siblings, f"{SHARD}: missing"),
        (a_cut_pickle, "pytorch_model.bin: cut short, its end is missing"),
        (index_of(), "no weight_map that names shards"),
        (index_of(layer="../elsewhere.safetensors"), "'../elsewhere.safetensors' is no file of this folder"),
        (index_of(layer=7), "7 is no file of this folder"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_that_names_the_file(tmp_path, change, said):
    folder = plant_model(tmp_path / "qwen", shards=2)
    assert check_model(folder).model_type == "qwen2"
    change(folder)
    with pytest.raises(UsageError) as error:
        check_model(folder)
    assert said in str(error.value)
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)


def names_or_problem(folder: Path) -> str:
    try:
        return ",".join(check_model(folder).files)
    except UsageError as error:
        return str(error)


def test_a_file_that_this_user_may_not_read_is_named():
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others altogether
        folder = plant_model(Path(name))
        folder.chmod(0o755)
        assert "model.safetensors" in as_another_user(lambda: names_or_problem(folder)).split(",")
        (folder / "model.safetensors").chmod(0)
        said = as_another_user(lambda: names_or_problem(folder))
        assert said == f"{folder / 'model.safetensors'}: can't be read (Permission denied)"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Qwen/Qwen2.5-1.5B-Instruct", "type: hf download Qwen/Qwen2.5-1.5B-Instruct --local-dir DIR, and"),
        ("/models/Qwen2.5", "no such folder; name the folder of a model in Hugging Face's layout"),
        ("a/b/c", "no such folder; name the folder of a model"),
    ],
)
def test_a_name_of_the_hub_is_told_from_a_folder(tmp_path, monkeypatch, name, advice):
    monkeypatch.chdir(tmp_path)
    assert check_model(plant_model(Path("Qwen/here"))).folder == tmp_path / "Qwen/here"
    with pytest.raises(UsageError) as error:
        check_model(Path(name))
    assert advice in str(error.value)
    assert str(error.value).startswith(f"--model {name}: ")


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (b'{"x": ', "no JSON"),
        (b'["x"]', "no JSON object"),
        (b'{"__metadata__": {}}', "names no tensor"),
        (b'{"x": {"data_offsets": [8, 4]}}', "no data_offsets"),
        (b'{"x": {"data_offsets": "0-8"}}', "no data_offsets"),
        (b'{"x": 1}', "no data_offsets"),
    ],
)
def test_a_header_says_how_long_the_file_is(header, problem):
    assert parse_header(safetensors(["a", "b"])).tensors == {"a", "b"}
    assert parse_header(safetensors(["a", "b"])).file_bytes == len(safetensors(["a", "b"]))
    with pytest.raises(ValueError, match=problem):
        parse_header(len(header).to_bytes(8, "little") + header)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)
HEADERS = st.binary(max_size=64) | VALUES.map(lambda value: json.dumps(value).encode())


@given(HEADERS)
def test_no_header_is_worse_than_wrong(header):
    data = len(header).to_bytes(8, "little") + header
    try:
        read = parse_header(data)
    except ValueError:
        return
    assert read.tensors
    assert read.file_bytes >= len(data)
