"""The rule lock: manifest, the archive's lock and this checkout's say the same."""

import pytest
from offload_archive import Change, OffloadArchive, messages, to_hardware

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import verify
from npu_assay.digest import sha256_of
from npu_assay.evidence.archive import seal

LOCK = "inputs/lock.toml"


def manifest(**changes: object) -> Change:
    def change(offload: OffloadArchive) -> None:
        environment = offload.manifest.environment.model_copy(update=changes)
        offload.change_manifest(environment=environment)

    return change


def loaded_and_locked(offload: OffloadArchive) -> None:
    """Another vLLM was loaded, and whatever the archive says about the lock says that it had to be."""
    for name in ("environment.json", "stages/versions-and-paths.log", LOCK):
        offload.replace(name, "0.18.0", "0.18.1")
    lock = offload.archive.root / LOCK
    versions = offload.manifest.environment.versions | {"vllm": "0.18.1", "vllm-ascend": "0.18.1"}
    manifest(versions=versions, lock_sha256=sha256_of(lock))(offload)


FAULTS: dict[str, tuple[Change, str]] = {
    "no lock": (
        lambda o: (o.root / LOCK).unlink(),
        "lock/1: no inputs/lock.toml: nobody knows what the run was made from manifest.json:10",
    ),
    "another lock than the manifest's": (
        lambda o: o.replace(LOCK, "disk_mib = 3100", "disk_mib = 3101"),
        "lock/1: inputs/lock.toml is ",
    ),
    "another hash in the manifest": (manifest(lock_sha256="0" * 64), "the manifest says 00000000"),
    "another name": (manifest(name="cann900-vllm0221"), "the manifest says cann900-vllm0221"),
    "a version": (
        lambda o: manifest(versions=o.manifest.environment.versions | {"vllm": "0.18.1"})(o),
        "lock/1: versions of vllm: the manifest says '0.18.1', the lock for emulated '0.18.0'",
    ),
    "a component more": (
        lambda o: manifest(versions=o.manifest.environment.versions | {"lmcache": "0.4.2"})(o),
        "lock/1: versions of lmcache: the manifest says '0.4.2', the lock for emulated nothing",
    ),
    "a build": (
        lambda o: manifest(builds=o.manifest.environment.builds | {"cann": "V1"})(o),
        "lock/1: builds of cann: the manifest says 'V1', the lock for emulated 'EMULATED'",
    ),
    "deviations left out": (
        manifest(deviations={}),
        "lock/1: deviations of cann: the manifest says nothing, the lock for emulated \"Upstream runs on",
    ),
    "a note more": (manifest(notes={"vllm": ("fine",)}), "notes of vllm: the manifest says ('fine',)"),
    "absent": (manifest(absent={"nnal": "no"}), "lock/1: absent of nnal: the manifest says 'no'"),
    "unverified": (
        manifest(unverified=("vllm",)),
        "lock/1: unverified components: the manifest says vllm, the lock none",
    ),
    "rebuilt": (
        manifest(rebuilt={"vllm_ascend/x.so": "0" * 64}),
        "lock/1: rebuilt: the manifest says vllm_ascend/x.so, the lock has nothing rebuilt",
    ),
    "no lock at all": (lambda o: o.write(LOCK, "name = 1"), "lock/1: inputs/lock.toml is "),
}  # fmt: skip


@pytest.mark.parametrize(("change", "says"), FAULTS.values(), ids=FAULTS)
def test_what_contradicts_the_lock_fails(offload: OffloadArchive, change: Change, says: str) -> None:
    good = offload.verdict()
    assert good.result is Result.PASS
    said = "\n".join(messages(good, Result.PASS))
    assert "lock/1: inputs/lock.toml is this checkout's ci/environments/cann900-vllm018.toml, " in said
    change(offload)
    verdict = offload.verdict()
    assert says in "\n".join(messages(verdict, Result.FAIL))
    assert verdict.result is Result.FAIL


def test_unverified_components_that_the_manifest_keeps_silent_about_fail_in_formal_mode(offload):
    to_hardware(offload)
    assert offload.verdict(Mode.FORMAL).result is Result.PASS
    offload.use_lock(lambda text: text.replace(f'"{"a" * 64}"', '"unverified"'))
    manifest(unverified=())(offload)
    assert "unverified components: the manifest says none, the lock cann, cann-ops, nnal" in "\n".join(
        messages(offload.verdict(Mode.FORMAL), Result.FAIL)
    )


def test_a_lock_that_this_checkout_does_not_have_is_never_a_pass(offload: OffloadArchive) -> None:
    assert offload.verdict().result is Result.PASS
    loaded_and_locked(offload)
    verdict = offload.verdict()
    assert verdict.result is not Result.PASS
    (unsure,) = [one for one in messages(verdict, Result.INCONCLUSIVE) if one.startswith("lock/")]
    assert ", this checkout's ci/environments/cann900-vllm018.toml is " in unsure


def test_a_lock_of_ones_own_is_inconclusive(offload: OffloadArchive) -> None:
    assert offload.verdict().result is Result.PASS
    own = offload.checkout
    offload.use_lock(lambda text: text + "# mine\n")
    assert offload.verdict().result is Result.PASS
    offload.checkout = own
    verdict = offload.verdict()
    assert messages(verdict, Result.FAIL) == []
    assert verdict.result is Result.INCONCLUSIVE
    offload.checkout = type(own)(environments=offload.root / "nowhere")
    verdict = offload.verdict()
    assert "this checkout has no " in "\n".join(messages(verdict, Result.INCONCLUSIVE))


def test_a_lock_that_is_not_for_the_pipeline_is_inconclusive(offload: OffloadArchive) -> None:
    assert offload.verdict().result is Result.PASS
    offload.use_lock(lambda text: text.replace("disk_mib", 'pipelines = ["engine"]\ndisk_mib'))
    assert "its environment is for engine, not for kv-offload" in "\n".join(
        messages(offload.verdict(), Result.INCONCLUSIVE)
    )


def test_junit_is_what_the_manifest_gives(offload: OffloadArchive) -> None:
    assert "junit/1: junit.xml is what manifest.json gives junit.xml manifest.json:" in "\n".join(
        messages(offload.verdict(), Result.PASS)
    )
    offload.seal()
    junit = offload.archive.junit.read_text()
    for changed in (junit.replace('name="unit"', 'name="unot"'), junit + "\n", ""):
        offload.archive.junit.write_text(changed)
        seal(offload.archive)
        verdict = verify(offload.root, Mode.EMULATED)
        assert [one.partition(" [")[0][:54] for one in messages(verdict, Result.FAIL)] == [
            "junit/1: junit.xml is not what manifest.json gives junit.xml"[:54]
        ]
