"""What the manifest says of its stages: passed off, left out, added, edited."""

from collections.abc import Callable

from mutations.forged import MANIFEST, Forged, Json, stage_of
from mutations.mutation import Mutation
from npu_assay.claims.findings import Result

HIGH_LEVEL = "native-high-level"


def _stage(name: str, stage: str, rule: str, result: Result = Result.FAIL, **values: object) -> Mutation:
    return Mutation(
        name, lambda forged: forged.edit_stage(stage, **values), rule, result=result, names=MANIFEST
    )


def _manifest(name: str, edit: Callable[[Json], object], rule: str = "pipeline", **more: object) -> Mutation:
    return Mutation(name, lambda forged: forged.edit_manifest(edit), rule, names=MANIFEST, **more)


def _setting(name: str, **values: object) -> Mutation:
    def edit(manifest: Json) -> None:
        stage_of(manifest, HIGH_LEVEL)["settings"].update(values)

    return _manifest(name, edit)


def _not_run(stage: str) -> Callable[[Forged], None]:
    """As if it had not been asked for; what it left is gone too."""

    def change(forged: Forged) -> None:
        forged.edit_stage(
            stage, status="not run", reason="not asked for", exit_code=None, started=None, seconds=None
        )
        for kind in ("log", "junit.xml"):
            if forged.has(f"stages/{stage}.{kind}"):
                forged.remove(f"stages/{stage}.{kind}")

    return change


def _passed_off(stage: str) -> Callable[[Forged], None]:
    """It was not run, and the manifest says that it passed."""

    def change(forged: Forged) -> None:
        for kind in ("log", "junit.xml"):
            if forged.has(f"stages/{stage}.{kind}"):
                forged.remove(f"stages/{stage}.{kind}")

    return change


def _without(stage: str) -> Callable[[Json], None]:
    def edit(manifest: Json) -> None:
        manifest["stages"] = [one for one in manifest["stages"] if one["name"] != stage]

    return edit


def _extra(manifest: Json) -> None:
    manifest["stages"].append(manifest["stages"][-1] | {"name": "lmcache-high-level"})


def _reordered(manifest: Json) -> None:
    manifest["stages"].reverse()


def _command(stage: str, edit: Callable[[list[str]], list[str]]) -> Callable[[Json], None]:
    def change(manifest: Json) -> None:
        record = stage_of(manifest, stage)
        record["command"] = edit(record["command"])

    return change


def _other_python(manifest: Json) -> None:
    for record in manifest["stages"]:
        if record["name"] == HIGH_LEVEL:
            record["command"] = ["/usr/bin/python3", *record["command"][1:]]


def _fewer_rounds(forged: Forged) -> None:
    """Setting, rows, and nothing else."""
    forged.edit_manifest(lambda manifest: stage_of(manifest, HIGH_LEVEL)["settings"].update(rounds=1))
    forged.write_rows("results/kv-offload.jsonl", forged.rows("results/kv-offload.jsonl")[:1])


MUTATIONS = (
    _stage("a stage failed", "unit", "stages", status="fail", reason="exit code 1", exit_code=1),
    _stage("failed with a good exit code", "unit", "stages", status="fail"),
    _stage("passed with an exit code", "unit", "stages", exit_code=1),
    _stage("passed, ended by a signal", "unit", "stages", exit_code=-9),
    _stage("passed without an exit code", "unit", "stages", exit_code=None),
    _stage("passed with a reason", "unit", "stages", reason="exit code 1"),
    _stage("skipped, with its log", "unit", "stages", status="skipped", exit_code=None),
    _stage("not run, with its log", "unit", "stages", status="not run", exit_code=None),
    _stage("not applicable, with its log", "unit", "stages", status="not applicable", exit_code=None),
    _stage("inconclusive", "unit", "stages", Result.INCONCLUSIVE, status="inconclusive", exit_code=3),
    _stage("interrupted", "unit", "stages", Result.INCONCLUSIVE, status="interrupted", exit_code=-15),
    _stage("passed, and never started", "unit", "pipeline", started=None),
    _stage("passed in no time", "unit", "pipeline", seconds=None),
    _manifest(
        "the run was interrupted",
        lambda manifest: manifest.update(interrupted=True),
        "stages",
        result=Result.INCONCLUSIVE,
    ),
    Mutation("a stage not asked for", _not_run("native-transfer"), "stages", result=Result.INCONCLUSIVE),
    *(
        Mutation(f"{stage} was not run, passed off", _passed_off(stage), "stages")
        for stage in ("ruff", "health-after", HIGH_LEVEL)
    ),
    _manifest("a stage left out", _without("ruff")),
    _manifest("a stage added", _extra),
    _manifest("stages in another order", _reordered),
    _manifest("a command edited", _command("ruff", lambda words: [*words, "--exit-zero"])),
    _manifest("a command cut", _command("compileall", lambda words: words[:-1])),
    _manifest("tests deselected", _command(HIGH_LEVEL, lambda words: [*words, "-k", "test_nothing"])),
    _manifest("another Python in one stage", _other_python),
    _manifest("no command", _command("unit", lambda words: [])),
    _setting("fewer rounds by the manifest", rounds=1),
    _setting("another prompt length by the manifest", prompt_tokens=512),
    _setting("a setting of another type", rounds="3"),
    _setting("a setting that nobody knows", skip_checks=True),
    _manifest("no settings", lambda manifest: stage_of(manifest, HIGH_LEVEL).update(settings={})),
    Mutation("fewer rounds in setting and rows", _fewer_rounds, "protocol", result=Result.INCONCLUSIVE),
    _manifest("the pipeline's hash", lambda manifest: manifest["pipeline"].update(sha256="5" * 64)),
    _manifest("another pipeline's name", lambda m: m["pipeline"].update(name="engine")),
    _manifest(
        "a pipeline that nobody published",
        lambda m: m["pipeline"].update(name="mine"),
        "verdict",
        result=Result.INCONCLUSIVE,
    ),
)
