"""manifest.json: keys, types and times that no run writes."""

from collections.abc import Callable

from mutations.forged import MANIFEST, Forged, Json
from mutations.mutation import Mutation

FAR_FUTURE, LONG_AGO = "2099-01-01T00:00:00.000Z", "1999-01-01T00:00:00.000Z"


def _edited(name: str, edit: Callable[[Json], object], rule: str = "verdict") -> Mutation:
    return Mutation(f"manifest: {name}", lambda forged: forged.edit_manifest(edit), rule, names=MANIFEST)


def _text(name: str, change: Callable[[Forged], object]) -> Mutation:
    return Mutation(f"manifest: {name}", change, "verdict", names=MANIFEST)


def _stage(title: str, rule: str = "verdict", **values: object) -> Mutation:
    return Mutation(
        f"manifest: {title}", lambda forged: forged.edit_stage("unit", **values), rule, names=MANIFEST
    )


def _twice(manifest: Json) -> None:
    manifest["stages"].append(manifest["stages"][0])


MUTATIONS = (
    _text("a bit", lambda forged: forged.flip(MANIFEST, at=0)),
    _text("empty", lambda forged: forged.write(MANIFEST, b"")),
    _text("a list", lambda forged: forged.write(MANIFEST, b"[]\n")),
    _text("cut", lambda forged: forged.write(MANIFEST, forged.read(MANIFEST)[:-20])),
    _text("two documents", lambda forged: forged.append(MANIFEST, forged.read(MANIFEST))),
    _text("nested too deep", lambda forged: forged.write(MANIFEST, b'{"a":' * 100_000)),
    _text(
        "broken UTF-8",
        lambda f: f.write(MANIFEST, f.read(MANIFEST).replace(b'"kernel": "', b'"kernel": "\xff', 1)),
    ),
    _text(
        "a key twice",
        lambda forged: forged.substitute(
            MANIFEST, r'^  "interrupted":.*$', '  "interrupted": true,\n  "interrupted": false,'
        ),
    ),
    _text(
        "a stage's key twice",
        lambda forged: forged.substitute(MANIFEST, r'"exit_code": 0', '"exit_code": 1, "exit_code": 0'),
    ),
    _edited("an unknown key", lambda manifest: manifest.update(verified=True)),
    _edited("an unknown key of a stage", lambda manifest: manifest["stages"][0].update(note="fine")),
    _edited("another schema", lambda manifest: manifest.update(schema_version=2)),
    _edited("schema as text", lambda manifest: manifest.update(schema_version="1")),
    _edited("no stages", lambda manifest: manifest.update(stages=[])),
    _edited("a stage twice", _twice),
    _edited("a kind that is none", lambda manifest: manifest["device"].update(kind="npu")),
    _edited("no dies", lambda manifest: manifest["device"].update(dies=[]), "health"),
    _edited("finished before it started", lambda manifest: manifest.update(finished=LONG_AGO)),
    _edited("started after its stages", lambda m: m.update(started=FAR_FUTURE, finished=FAR_FUTURE)),
    _edited("a time without zone", lambda manifest: manifest.update(started="2026-11-30T01:00:00")),
    _edited("interrupted as text", lambda manifest: manifest.update(interrupted="false")),
    _stage("an exit code as text", exit_code="0"),
    _stage("an exit code as fraction", exit_code=0.0),
    _stage("an exit code as false", exit_code=False),
    _stage("NaN seconds", seconds=float("nan")),
    _stage("infinite seconds", seconds=float("inf")),
    _stage("negative seconds", seconds=-1.0),
    _stage("seconds as text", seconds="1.5"),
    _stage("a status that is none", status="ok"),
    _stage("a stage before the run", started=LONG_AGO),
    _stage("a stage after the run", started=FAR_FUTURE),
    _stage("more seconds than the whole run", seconds=100_000.0),
    _edited("a stage's name that climbs", lambda manifest: manifest["stages"][0].update(name="../cann")),
)
