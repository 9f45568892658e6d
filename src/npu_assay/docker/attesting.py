"""What is told of an image that was built, as files beside each other."""

from pathlib import Path

from npu_assay.docker.bill import image_bill
from npu_assay.docker.built import BuiltImage
from npu_assay.docker.contents import ImageContents, look_into
from npu_assay.docker.provenance import own_resources, render_provenance
from npu_assay.docker.sizes import ImageSizes
from npu_assay.errors import AssayError
from npu_assay.evidence.atomic import write_atomically

DIGEST, RECORD = "digest", "image.json"
BILL, PROVENANCE, SIZES = "sbom.cdx.json", "provenance.intoto.json", "sizes.json"


def attest(built: BuiltImage, sizes: ImageSizes, folder: Path) -> None:
    """Look into the image and write the files. Raises AssayError where it says that it is another one's."""
    contents = look_into(built.name)
    _check(built, contents)
    files = {
        DIGEST: f"{built.name}\n".encode(),
        RECORD: contents.record.model_dump_json(indent=2).encode() + b"\n",
        BILL: image_bill(built, contents.packages).encode(),
        SIZES: sizes.model_dump_json(indent=2).encode() + b"\n",
    }
    for name, data in files.items():
        write_atomically(folder / name, data)
    beside = {name: folder / name for name in (RECORD, BILL, SIZES)}
    write_atomically(folder / PROVENANCE, render_provenance(built, own_resources(contents.own), beside))


def _check(built: BuiltImage, contents: ImageContents) -> None:
    """What an image says of itself is what its build was told."""
    found, expected = contents.record.model_dump(), built.record.model_dump()
    wrong = [name for name in expected if found[name] != expected[name]]
    if wrong:
        first = wrong[0]
        raise AssayError(
            f"{built.name}: in its image.json {first} is {found[first]!r}, its build was told"
            f" {expected[first]!r}; build it again"
        )
