"""What both sides ran on: differences, what they may cause, and what forbids to compare performance."""

import json

import pytest
from offload_archive import IDENTITY, SETTINGS, to_hardware

from npu_assay.claims.case import Case, Mode
from npu_assay.comparison.environment import against_performance, compare_environments
from npu_assay.comparison.facts import read_facts
from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import FileRecord, ModelRecord
from npu_assay.source.record import PatchRecord

PYTHON = (
    "/home/me/.cache/npu-assay/environments/cann900-vllm018-emulated-0123456789abcdef/venv/lib/python3.11"
)


def facts(run):
    run.seal()
    return read_facts(Case(run.archive, Mode.LIMITED))


def compared(run, change):
    """The archive against itself after a change."""
    before = facts(run)
    change(run)
    after = facts(run)
    found = compare_environments(before, after)
    return found, against_performance(before, after, found)


def test_a_run_is_as_it_is(offload):
    found, refused = compared(offload, lambda run: None)
    assert found.differences == ()
    assert found.causes == ()
    assert found.attribution == "nothing that is recorded differs"
    assert found.same > 20
    assert refused == ()


def setting(run, **values):
    run.change_stage("native-high-level", settings=SETTINGS | values)


def environment(run, **changes):
    run.change_manifest(environment=run.manifest.environment.model_copy(update=changes))


def version(run, **changes):
    environment(run, versions=run.manifest.environment.versions | changes, lock_sha256="2" * 64)


def model(run):
    record = ModelRecord(
        path="/models/x",
        architectures=("Qwen2ForCausalLM",),
        model_type="qwen2",
        files={"config.json": FileRecord(sha256="3" * 64, size=3)},
    )
    run.change_manifest(model=record)


def patched(run):
    patches = (PatchRecord(name="a.patch", file="0001-a.patch", sha256="4" * 64),)
    source = run.manifest.source.model_copy(update={"patches": patches, "tree_sha256": "5" * 64})
    run.change_manifest(source=source)


def host(run):
    run.change_manifest(host=run.manifest.host.model_copy(update={"cpus": 192, "kernel": "5.10"}))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda run: setting(run, rounds=5), "setting native-high-level.rounds (3, 5)"),
        (lambda run: setting(run, eager=True), "setting native-high-level.eager (none, true)"),
        # A lock with another sha256 is no second cause beside the version that is other in it.
        (lambda run: version(run, torch="2.9.1"), "version torch (2.9.0, 2.9.1)"),
        (lambda run: environment(run, lock_sha256="2" * 64), "the lock"),
        (lambda run: environment(run, absent={"lmcache": "why"}), "version lmcache (none, absent)"),
        (model, "the model"),
        (patched, "vllm-ascend"),
        (host, "the host"),
        (lambda run: run.put_in_image(), "the image"),
        # Another environment is in another image.
        (lambda run: (run.put_in_image(), version(run, torch="2.9.1")), "version torch (2.9.0, 2.9.1)"),
    ],
)
def test_a_change_is_put_down_to_what_alone_differs(offload, change, cause):
    found, refused = compared(offload, change)
    assert found.attribution == f"the only difference that is recorded: {cause}"
    assert refused == ()


def test_of_several_differences_none_is_the_cause(offload):
    def change(run):
        setting(run, rounds=5, prompt_tokens=600)
        host(run)

    found, _ = compared(offload, change)
    assert found.attribution == (
        "3 things differ, so a change is put down to none of them: setting native-high-level.rounds (3, 5), "
        "setting native-high-level.prompt_tokens (300, 600), the host"
    )


def loaded(run, **packages):
    values = {"packages": [{"name": n, "version": v, "path": p} for n, (v, p) in packages.items()]}
    run.write("environment.json", json.dumps(values))


@pytest.mark.parametrize(
    ("path", "differs"),
    [
        (f"{PYTHON}/site-packages/torch/__init__.py", False),
        # The same place in another user's cache, on another architecture's key.
        (
            f"{PYTHON}/site-packages/torch/__init__.py".replace("/home/me", "/root").replace("0123", "ffff"),
            False,
        ),
        ("/usr/local/lib/python3.11/site-packages/torch/__init__.py", True),
    ],
)
def test_where_a_package_comes_from_matters_and_where_the_cache_is_does_not(offload, path, differs):
    loaded(offload, torch=("2.9.0", f"{PYTHON}/site-packages/torch/__init__.py"))
    found, _ = compared(offload, lambda run: loaded(run, torch=("2.9.0", path)))
    assert found.causes == (("where packages are loaded from",) if differs else ())


@pytest.mark.parametrize(("key", "differs"), [("0123456789abcdef", False), ("fedcba9876543210", True)])
def test_a_plug_in_with_other_content_is_another_one(offload, key, differs):
    place = "/c/adaptations/{}/site/vllm_ascend_params/__init__.py"
    loaded(offload, vllm_ascend_params=("0.1.0", place.format("0123456789abcdef")))
    changed = place.replace("/c/", "/d/").format(key)
    found, _ = compared(offload, lambda run: loaded(run, vllm_ascend_params=("0.1.0", changed)))
    assert bool(found.differences) is differs


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (to_hardware, "kind: emulated in A, hardware in B"),
        (
            lambda run: environment(run, builds=run.manifest.environment.builds | {"cann": "B250"}),
            "cann build: EMULATED in A, B250 in B",
        ),
        (lambda run: version(run, cann="8.5.1"), "cann: 9.0.0 in A, 8.5.1 in B"),
        (lambda run: version(run, nnal="8.5.1"), "nnal: 9.0.0 in A, 8.5.1 in B"),
        (
            lambda run: run.replace("stages/versions-and-paths.log", IDENTITY, "EMULATED 0.2.0"),
            f"CANN that was loaded: {IDENTITY} in A, EMULATED 0.2.0 in B",
        ),
        (
            lambda run: run.replace("stages/versions-and-paths.log", "cann-identity", "nothing"),
            "which CANN B had loaded is not recorded: its stage was not run",
        ),
    ],
)
def test_performance_on_other_cann_is_refused(offload, change, reason):
    _, refused = compared(offload, change)
    assert reason in refused


def test_a_file_of_another_form_is_an_error(offload):
    assert facts(offload)
    offload.write("environment.json", '{"packages": [{"name": "torch"}]}')
    with pytest.raises(UsageError, match=r"environment\.json: expected packages with name, version and path"):
        facts(offload)


def inputs(run, model="3" * 64, rows=3):
    values = {
        "schema_version": 1,
        "models": [{"name": "tiny", "files": {"model.safetensors": {"sha256": model, "size": 9}}}],
        "datasets": [
            {"name": "prompts", "source": "made", "revision": "0", "rows": rows, "sha256": f"{rows:064x}"}
        ],
    }
    run.write("stages/native-high-level.inputs.json", json.dumps(values))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda run: inputs(run), ()),
        (lambda run: inputs(run, model="4" * 64), ("the model",)),
        (lambda run: inputs(run, rows=4), ("the data",)),
    ],
)
def test_what_a_stage_read_is_compared(offload, change, cause):
    inputs(offload)
    found, _ = compared(offload, change)
    assert found.causes == cause


def test_what_a_stage_did_not_find_out_is_no_difference(offload):
    def leave_out(run):
        run.change_stage("native-high-level", inputs=None)
        (run.root / "stages/native-high-level.inputs.json").unlink()

    found, _ = compared(offload, leave_out)
    assert (found.causes, found.unknown) == ((), ("native-high-level",))
