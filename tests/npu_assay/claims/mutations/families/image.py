"""The image that a run was in: that of something else, named in one place, or without a digest."""

from collections.abc import Callable

from mutations.forged import MANIFEST, Forged, Json
from mutations.mutation import EMULATED, HARDWARE, Mutation
from npu_assay.claims.findings import Result

FILE = "image.json"
OTHER_SHA256 = "0" * 64


def _both(edit: Callable[[Json], object]) -> Callable[[Forged], None]:
    """In image.json and in the manifest, so that neither contradicts the other."""

    def change(forged: Forged) -> None:
        forged.edit_json(FILE, edit)
        forged.edit_manifest(lambda manifest: edit(manifest["image"]))

    return change


def _of(name: str, result: Result = Result.FAIL, **values: object) -> Mutation:
    change = _both(lambda image: image.update(values))
    return Mutation(name, change, "image", kinds=(HARDWARE,), result=result, names=FILE)


def _of_file(name: str, change: Callable[[Forged], object], names: str = FILE) -> Mutation:
    return Mutation(name, change, "image", kinds=(HARDWARE,), names=names)


MUTATIONS = (
    _of("an image of another lock", lock="cann851-vllm018"),
    _of("an image of another content of the lock", lock_sha256=OTHER_SHA256),
    _of("an image of another target", target="cann900-vllm018-image-riscv64"),
    _of("an image with the vendor's packages, of another target", cann_source="run-packages"),
    _of("an image of another CANN", cann="8.5.1 V100R001C25SPC002B220"),
    _of("an image of other commits", commits={}),
    _of("an image without digest", Result.INCONCLUSIVE, digest=None),
    _of_file("image.json of another base", lambda f: f.edit_json(FILE, lambda image: image.update(base="x"))),
    _of_file(
        "image.json of another digest",
        lambda forged: forged.edit_json(FILE, lambda image: image["digest"].update(sha256=OTHER_SHA256)),
    ),
    _of_file(
        "another digest in the manifest",
        lambda forged: forged.edit_manifest(lambda m: m["image"]["digest"].update(sha256=OTHER_SHA256)),
        MANIFEST,
    ),
    _of_file("a bit of image.json", lambda forged: forged.flip(FILE, at=0)),
    _of_file("image.json dropped", lambda forged: forged.remove(FILE)),
    _of_file("no image in the manifest", lambda f: f.edit_manifest(lambda m: m.update(image=None)), MANIFEST),
    _of_file(
        "an unknown key", lambda forged: forged.edit_json(FILE, lambda image: image.update(signed=True))
    ),
    Mutation(
        "an image that the manifest does not name",
        lambda forged: forged.write(FILE, "{}\n"),
        "image",
        kinds=(EMULATED,),
        names=FILE,
    ),
)
