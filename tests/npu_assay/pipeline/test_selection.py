import pytest

from npu_assay.errors import UsageError
from npu_assay.pipeline.command import fill_placeholders
from npu_assay.pipeline.definition import Pipeline
from npu_assay.pipeline.selection import apply_settings, choose_stages

PIPELINE = Pipeline.model_validate(
    {
        "name": "demo",
        "stage": [
            {"name": "lint", "command": ["x"], "timeout": 1.0},
            {
                "name": "high-level",
                "command": ["x"],
                "timeout": 1.0,
                "settings": {"rounds": 3, "ratio": 0.5, "fast": True, "word": "a"},
                "optional": {"blocks": "int", "dtype": "str"},
            },
        ],
    }
)


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("high-level.rounds=5", 5),
        ("high-level.ratio=2", 2.0),
        ("high-level.fast=False", False),
        ("high-level.word=a=b.c", "a=b.c"),
        ("high-level.word=", ""),
        ("high-level.blocks=64", 64),
        ("high-level.dtype=float32", "float32"),
    ],
)
def test_a_setting_has_a_type_and_optional_ones_are_left_out_until_set(assignment, value):
    key = assignment.partition("=")[0].partition(".")[2]
    before = apply_settings(PIPELINE, [])["high-level"]
    assert before == {"rounds": 3, "ratio": 0.5, "fast": True, "word": "a"}
    after = apply_settings(PIPELINE, [assignment])["high-level"]
    assert after == before | {key: value}
    assert type(after[key]) is type(value)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("rounds=5", "expected stage.key=value"),
        ("high-level.rounds", "expected stage.key=value"),
        ("hihg-level.rounds=5", "has no stage 'hihg-level'; there are: lint, high-level"),
        ("high-level.runds=5", "has no setting 'runds'; there are: rounds, ratio, fast, word, blocks, dtype"),
        ("lint.rounds=5", "stage lint has no setting 'rounds'; there are: none"),
        ("high-level.rounds=five", "expected a value of type int, found 'five'"),
        ("high-level.rounds=5.0", "expected a value of type int"),
        ("high-level.ratio=nan", "expected a value of type float, found 'nan'"),
        ("high-level.ratio=1e999", "expected a value of type float, found '1e999'"),
        ("high-level.fast=1", "expected true or false, found '1'"),
        ("high-level.blocks=many", "expected a value of type int, found 'many'"),
    ],
)
def test_a_wrong_assignment_names_what_exists(assignment, message):
    apply_settings(PIPELINE, ["high-level.rounds=5"])
    with pytest.raises(UsageError, match=message) as error:
        apply_settings(PIPELINE, ["high-level.rounds=5", assignment])
    assert str(error.value).startswith(f"--set {assignment}: ")


def test_chosen_stages_are_exactly_those_named():
    assert choose_stages(PIPELINE, ["high-level"]) == {"high-level"}
    assert choose_stages(PIPELINE, []) == {"lint", "high-level"}
    with pytest.raises(UsageError, match="--stage nope: pipeline demo has no stage 'nope'; there are: lint"):
        choose_stages(PIPELINE, ["lint", "nope"])


def test_placeholders_are_filled_in_words_and_as_whole_words():
    values = {"assay": ("/bin/python", "-m", "npu_assay"), "junit": ("/a b/x.xml",)}
    assert fill_placeholders(["{assay}", "device", "--junit-xml={junit}", "{"], values) == [
        "/bin/python",
        "-m",
        "npu_assay",
        "device",
        "--junit-xml=/a b/x.xml",
        "{",
    ]
