import pytest

from npu_assay.errors import UsageError
from npu_assay.pipeline.definition import find_pipeline, load_pipeline
from npu_assay.project import PIPELINES

GOOD = """
name = "demo"

[[stage]]
name = "first"
command = ["{python}", "-c", "pass"]
timeout = 10

[[stage]]
name = "second"
command = ["{assay}", "device", "health"]
timeout = 10
needs = ["first"]
dies = 2
leaves = ["results/rows.jsonl"]
settings = { rounds = 3, ratio = 0.5, fast = true, words = "a b" }
"""


def load(tmp_path, text):
    path = tmp_path / "demo.toml"
    path.write_text(text)
    return load_pipeline(path)[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("timeout = 10", "timeout = 10\nretries = 3", "stage.0.retries: Extra inputs are not permitted"),
        ('name = "demo"', 'name = "demo"\nowner = "me"', "owner: Extra inputs are not permitted"),
        ("timeout = 10", "timeout = 0", "stage.0.timeout: Input should be greater than 0"),
        ("timeout = 10", 'timeout = "10"', "stage.0.timeout: Input should be a valid number"),
        ("timeout = 10", "", "stage.0.timeout: Field required"),
        ('"{python}"', '"{pyhton}"', r"unknown placeholder \{pyhton\}; there are python, assay"),
        ('["{python}", "-c", "pass"]', "[]", "stage.0.command: List should have at least 1 item"),
        ('["{python}", "-c", "pass"]', '"make test"', "stage.0.command: Input should be a valid list"),
        ('needs = ["first"]', 'needs = ["third"]', "second needs third, which does not stand before it"),
        ('needs = ["first"]', 'needs = ["second"]', "second needs second, which does not stand before it"),
        ('name = "second"', 'name = "first"', "stage first stands twice"),
        ('name = "first"', 'name = "../first"', "stage.0.name: String should match"),
        ("results/rows.jsonl", "../rows.jsonl", "must be a path inside the archive"),
        ("rounds = 3", "rounds = [3]", "stage.1.settings.rounds"),
        ('name = "demo"', "name = demo", "demo.toml: Invalid value"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path, old, new, message):
    assert load(tmp_path, GOOD).stage_names == ["first", "second"]
    with pytest.raises(UsageError, match=message) as error:
        load(tmp_path, GOOD.replace(old, new, 1))
    assert "\n" not in str(error.value)
    assert "demo.toml: " in str(error.value)


def test_a_pipeline_is_found_by_name_or_by_path(tmp_path):
    assert find_pipeline("kv-offload", PIPELINES) == PIPELINES / "kv-offload.toml"
    assert find_pipeline(f"{tmp_path}/my.toml", PIPELINES) == tmp_path / "my.toml"
    for name in ("kv-offlaod", "../pipelines/kv-offload"):
        with pytest.raises(UsageError, match=r"no pipeline '.*' in .*; there are: .*kv-offload"):
            find_pipeline(name, PIPELINES)
    with pytest.raises(UsageError, match=r"my.toml: can't be read \(No such file"):
        load_pipeline(tmp_path / "my.toml")


def test_kv_offload_has_the_stages_of_the_published_result_in_order():
    pipeline, _ = load_pipeline(PIPELINES / "kv-offload.toml")
    assert pipeline.stage_names == [
        "cann",
        "build",
        "versions-and-paths",
        "health",
        "ruff",
        "compileall",
        "vllm-ascend-ut",
        "unit",
        "native-transfer",
        "native-high-level",
        "health-after",
    ]
    by_name = {stage.name: stage for stage in pipeline.stage}
    assert [stage.name for stage in pipeline.stage if stage.empty_log] == ["compileall"]
    assert [stage.name for stage in pipeline.stage if stage.junit] == pipeline.stage_names[-4:-1]
    assert by_name["native-high-level"].settings["rounds"] == 3
    assert by_name["native-high-level"].settings["prompt_tokens"] == 300
