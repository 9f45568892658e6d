"""What ran: versions, load paths, CANN's builds, the lock's words, the tree of the run's vllm-ascend."""

import json
from collections.abc import Callable

from mutations.forged import MANIFEST, Forged, Json
from mutations.mutation import HARDWARE, Mutation
from npu_assay.claims.findings import Result
from npu_assay.digest import sha256_of

VERSIONS, ENVIRONMENT = "stages/versions-and-paths.log", "environment.json"
TOOLKIT, ATB, DRIVER = (
    "cann/toolkit/ascend_toolkit_install.info",
    "cann/atb/version.info",
    "cann/driver/version.info",
)
LOCK = "inputs/lock.toml"
LISTING = "source/files.sha256"
MODULE = "vllm_ascend/utils.py"
OTHER_SHA256 = "5" * 64


def _log(name: str, pattern: str, replacement: str, rule: str = "versions") -> Mutation:
    return Mutation(
        name, lambda forged: forged.substitute(VERSIONS, pattern, replacement), rule, names=VERSIONS
    )


def _manifest(name: str, edit: Callable[[Json], object], rule: str, **more: object) -> Mutation:
    return Mutation(name, lambda forged: forged.edit_manifest(edit), rule, names=MANIFEST, **more)


def _environment(name: str, edit: Callable[[Json], object], rule: str) -> Mutation:
    return Mutation(name, lambda forged: forged.edit_json(ENVIRONMENT, edit), rule, names=ENVIRONMENT)


def _lock_of(manifest: Json) -> Json:
    lock: Json = manifest["environment"]
    return lock


def _other_torch(forged: Forged) -> None:
    """In everything that the run says itself."""
    forged.substitute(VERSIONS, r"^torch \S+", "torch 2.8.0")
    forged.edit_manifest(lambda manifest: _lock_of(manifest)["versions"].update(torch="2.8.0"))
    facts = json.loads(forged.read(ENVIRONMENT))
    for package in facts.get("packages", []):
        if package["name"] == "torch":
            package["version"] = "2.8.0"
    forged.path(ENVIRONMENT).unlink()
    forged.write(ENVIRONMENT, json.dumps(facts))


def _reseal_lock(forged: Forged) -> None:
    sha256 = sha256_of(forged.path(LOCK))
    forged.edit_manifest(lambda manifest: _lock_of(manifest).update(lock_sha256=sha256))


def _other_torch_and_lock(forged: Forged) -> None:
    _other_torch(forged)
    forged.substitute(LOCK, r'^(\[components\.torch\]\nversion = ")[^"]+', r"\g<1>2.8.0")
    _reseal_lock(forged)


def _lock_comment(forged: Forged) -> None:
    forged.append(LOCK, "# edited\n")
    _reseal_lock(forged)


def _build(forged: Forged) -> None:
    """Another build in all of CANN's files and in the manifest."""
    for name in forged.names("cann/*/*"):
        if b"EMULATED" in forged.read(name):
            forged.replace(name, "EMULATED", "V100R001C10SPC001B260")
        elif b"V100R001C10SPC001B250" in forged.read(name):
            forged.replace(name, "V100R001C10SPC001B250", "V100R001C10SPC001B260")
    forged.edit_manifest(
        lambda manifest: _lock_of(manifest).update(
            builds={
                name: "V100R001C10SPC001B260" if name.startswith("cann") else build
                for name, build in _lock_of(manifest)["builds"].items()
            }
        )
    )


def _patch_added(forged: Forged) -> None:
    forged.write("source/patches/0001-utils.patch", "--- a\n+++ b\n")


def _patch_claimed(forged: Forged) -> None:
    """A patch in all records of the lock's own vllm-ascend."""
    _patch_added(forged)
    sha256 = sha256_of(forged.path("source/patches/0001-utils.patch"))
    patch = {"name": "utils.patch", "file": "0001-utils.patch", "sha256": sha256}
    forged.edit_manifest(lambda manifest: manifest["source"].update(patches=[patch]))
    forged.edit_json("source/source.json", lambda record: record.update(patches=[patch]))


def _tree(forged: Forged) -> None:
    """One module of the package, in the listing and its hash in both records; not what was loaded."""
    forged.substitute(LISTING, rf"^[0-9a-f]{{64}}(?=  {MODULE})", OTHER_SHA256)
    sha256 = sha256_of(forged.path(LISTING))
    forged.edit_manifest(lambda manifest: manifest["source"].update(tree_sha256=sha256))
    forged.edit_json("source/source.json", lambda record: record.update(tree_sha256=sha256))


def _tree_and_loaded(forged: Forged) -> None:
    """A module of the lock's own vllm-ascend was another one, everywhere in the archive."""
    _tree(forged)
    forged.edit_json(ENVIRONMENT, lambda facts: facts["vllm_ascend_files"].update({MODULE: OTHER_SHA256}))


def _called_own(manifest: Json) -> None:
    manifest["source"].update(kind="folder", given="/home/me/vllm-ascend")


MUTATIONS = (
    _log("another torch was loaded", r"^torch \S+", "torch 2.8.0"),
    _log("another torch-npu was loaded", r"^torch-npu \S+", "torch-npu 2.9.0"),
    _log("another vLLM was loaded", r"^vllm \S+", "vllm 0.18.1"),
    _log("another vllm-ascend was loaded", r"^vllm-ascend (?=\d)\S+", "vllm-ascend 0.18.1"),
    _log("vllm-ascend of a tree", r"^vllm-ascend (?=\d)\S+", "vllm-ascend 0.18.0+tree.000000000000"),
    _log("another triton was loaded", r"^triton-ascend \S+", "triton-ascend 3.2.9"),
    _log("another Python ran", r"^python \S+", "python 3.10.12"),
    _log("torch was loaded twice", r"^(torch \S+ )(\S+)$", r"\1\2\n\1/other/torch/__init__.py"),
    _log("no version of vLLM", r"^vllm \S.*\n", ""),
    _log("vLLM from elsewhere", r"^(vllm \S+ ).*$", r"\1/home/me/vllm/vllm/__init__.py"),
    _log("vllm-ascend from elsewhere", r"^(vllm-ascend \d\S* ).*$", r"\1/home/me/vllm_ascend/__init__.py"),
    _environment(
        "environment.json: vLLM from elsewhere",
        lambda facts: next(p for p in facts["packages"] if p["name"] == "vllm").update(path="/home/me/v.py"),
        "versions",
    ),
    _environment(
        "environment.json: another torch",
        lambda facts: next(p for p in facts["packages"] if p["name"] == "torch").update(version="2.8.0"),
        "versions",
    ),
    _manifest(
        "the lock asks for another torch",
        lambda manifest: _lock_of(manifest)["versions"].update(torch="2.8.0"),
        "lock",
    ),
    Mutation("another torch in log, environment.json and manifest", _other_torch, "lock"),
    Mutation(
        "another torch and its lock", _other_torch_and_lock, "lock", result=Result.INCONCLUSIVE, names=LOCK
    ),
    Mutation("the lock edited", _lock_comment, "lock", result=Result.INCONCLUSIVE, names=LOCK),
    _manifest("the lock's hash", lambda m: _lock_of(m).update(lock_sha256=OTHER_SHA256), "lock"),
    _manifest("another lock's name", lambda m: _lock_of(m).update(name="cann851-vllm018"), "lock"),
    _manifest("a deviation dropped", lambda m: _lock_of(m)["deviations"].popitem(), "lock"),
    _manifest(
        "a deviation reworded",
        lambda m: _lock_of(m).update(
            deviations=dict.fromkeys(_lock_of(m)["deviations"], "none worth a word")
        ),
        "lock",
    ),
    _manifest("notes that the lock has not", lambda m: _lock_of(m).update(notes={"torch": ["x"]}), "lock"),
    _manifest("a version dropped", lambda m: _lock_of(m)["versions"].pop("torch-npu"), "lock"),
    _manifest("unverified dropped", lambda m: _lock_of(m).update(unverified=[]), "lock", kinds=(HARDWARE,)),
    _manifest("a component called absent", lambda m: _lock_of(m).update(absent={"nnal": "x"}), "lock"),
    _manifest("a rebuilt module", lambda m: _lock_of(m).update(rebuilt={"x.so": OTHER_SHA256}), "lock"),
    _manifest("loaded: another torch", lambda m: m["loaded"]["torch"].update(version="2.8.0"), "versions"),
    _manifest(
        "loaded: torch from elsewhere", lambda m: m["loaded"]["torch"].update(file="/t.py"), "versions"
    ),
    _manifest("loaded: no torch", lambda m: m["loaded"].pop("torch"), "versions"),
    _manifest("loaded: nothing", lambda m: m.update(loaded=None), "versions"),
    Mutation(
        "another toolkit",
        lambda forged: forged.substitute(TOOLKIT, r"^version=.*$", "version=8.5.1"),
        "cann",
        names=TOOLKIT,
    ),
    Mutation(
        "another build of the toolkit",
        lambda forged: forged.substitute(TOOLKIT, r"^innerversion=.*$", "innerversion=V100R001C10SPC001B260"),
        "cann",
        names=TOOLKIT,
    ),
    Mutation("another build of CANN in files and manifest", _build, "lock"),
    Mutation(
        "another build expected",
        lambda forged: forged.edit_manifest(lambda m: _lock_of(m)["builds"].update(cann="B260")),
        "cann",
    ),
    Mutation("an older ATB", lambda forged: forged.replace(ATB, "9.0.0", "8.5.0"), "cann", names=ATB),
    Mutation(
        "a driver that is too old",
        lambda forged: forged.substitute(DRIVER, r"^Version=[\d.]+", "Version=24.1.rc3"),
        "cann",
        names=DRIVER,
    ),
    Mutation(
        "the version file of another host's driver",
        lambda forged: forged.write(DRIVER, "Version=25.5.1\nfirmware\n"),
        "cann",
        names=DRIVER,
    ),
    Mutation(
        "CANN's files of another folder",
        lambda forged: forged.replace("cann/files.json", "/Ascend/cann-9.0.0/", "/Ascend/cann-9.0.1/"),
        "cann",
        names="cann/files.json",
    ),
    Mutation(
        "CANN's files of another machine",
        lambda forged: forged.replace("cann/files.json", "x86_64", "aarch64"),
        "cann",
        names="cann/files.json",
    ),
    Mutation(
        "another CANN in one stage",
        lambda forged: forged.substitute(
            "stages/native-transfer.log",
            r"^process-map: .*/libascendcl\.so",
            "process-map: /usr/local/Ascend/cann-8.5.1/x86_64-linux/lib64/libascendcl.so",
            count=0,
        ),
        "identity",
        names="stages/native-transfer.log",
    ),
    Mutation(
        "a stage's log of another run",
        lambda forged: forged.substitute(
            "stages/native-high-level.log", r"^process-map: /", "process-map: /other", count=0
        ),
        "identity",
        names="stages/native-high-level.log",
    ),
    Mutation(
        "environment.json of another run",
        lambda forged: forged.substitute(ENVIRONMENT, r'"(?=/\S*libascendcl)', '"/other', count=0),
        "identity",
        names=ENVIRONMENT,
    ),
    _environment(
        "a module that is not the tree's was loaded",
        lambda facts: facts["vllm_ascend_files"].update({MODULE: OTHER_SHA256}),
        "source",
    ),
    _environment("a module was not loaded", lambda facts: facts["vllm_ascend_files"].pop(MODULE), "source"),
    _environment(
        "a module more", lambda f: f["vllm_ascend_files"].update({"vllm_ascend/x.py": "0" * 64}), "source"
    ),
    _environment("no modules", lambda facts: facts.update(vllm_ascend_files={}), "source"),
    _environment("modules of another type", lambda facts: facts.update(vllm_ascend_files=[1]), "source"),
    Mutation("a patch that nobody names", _patch_added, "source", names="source/patches/0001-utils.patch"),
    Mutation("a patch on the lock's own", _patch_claimed, "source"),
    Mutation("a file of the tree in listing and records", _tree, "source"),
    Mutation("a module of the lock's own in all records", _tree_and_loaded, "source"),
    _manifest("the lock's own called a folder", _called_own, "source"),
    _manifest("another tree", lambda m: m["source"].update(tree_sha256=OTHER_SHA256), "source"),
    _manifest("fewer files", lambda m: m["source"].update(files=1), "source"),
)
