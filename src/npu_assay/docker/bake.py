"""docker/docker-bake.hcl: the images of all locks, for `docker buildx bake`.

It is written by ci/bake and committed; a test fails when it is stale.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from npu_assay.docker.targets import ImageTarget, image_targets
from npu_assay.environment.lock import load_lock, lock_names
from npu_assay.project import ROOT

BAKE_FILE = ROOT / "docker" / "docker-bake.hcl"
#: What a bake without names makes.
_DEFAULT = "cann900-vllm018-emulated-x86_64"

#: Variables, and what all targets have.
_HEAD = Path(__file__).with_name("head.hcl")


def render() -> str:
    """The file as it has to be, of the locks as they are."""
    return rendered([*image_targets([load_lock(name) for name in lock_names()])])


def rendered(targets: Sequence[ImageTarget]) -> str:
    """The file of these targets."""
    return "\n".join([_HEAD.read_text(), *_groups(targets), *map(_target, targets)])


def _groups(targets: Sequence[ImageTarget]) -> Iterable[str]:
    emulated = [target.name for target in targets if target.cann == "emulated"]
    for name, members in {"default": [_DEFAULT], "emulated": emulated}.items():
        lines = "".join(f"    {json.dumps(member)},\n" for member in members)
        yield f'group "{name}" {{\n  targets = [\n{lines}  ]\n}}\n'


def _target(target: ImageTarget) -> str:
    args = {"LOCK": target.variant.lock.name, "CANN": target.cann, "DEVICE": target.device}
    if target.chip is not None:
        args["CHIP"] = target.chip
    quoted = {name: json.dumps(value) for name, value in args.items()}
    if target.vendor_tag is None:
        quoted["BASE"] = "BASE"
    else:
        digest, tag = "CANN_DIGEST", json.dumps(target.vendor_tag)
        if target.vendor_digest is not None:
            digest = f'CANN_DIGEST == "" ? {json.dumps(target.vendor_digest)} : CANN_DIGEST'
        quoted["CANN_DIGEST"] = digest
        quoted["CANN_IMAGE"] = f"vendor_image({tag}, {digest})"
    if target.cann == "run-packages":
        quoted["ACCEPT_LICENCE"] = "ACCEPT_LICENCE"
    if target.variant.compiles("vllm-ascend", target.architecture):
        quoted["SOC_VERSION"] = "SOC_VERSION"
    lines = [
        *(f"# Before it can be built: {line}" for line in target.obstacles),
        f'target "{target.name}" {{',
        '  inherits  = ["_common"]',
        f"  platforms = [{json.dumps(target.platform)}]",
        f'  tags      = ["${{NAME}}:{target.name}${{IMAGE == "runtime" ? "" : "-${{IMAGE}}"}}${{OWN}}"]',
        *_table("args", quoted),
        *_table("labels", {json.dumps(name): json.dumps(value) for name, value in target.labels.items()}),
        "}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _table(name: str, entries: Mapping[str, str]) -> list[str]:
    width = max(map(len, entries))
    return [f"  {name} = {{", *(f"    {key:{width}} = {value}" for key, value in entries.items()), "  }"]


def is_stale() -> bool:
    """Whether the committed file is another than the locks ask for."""
    return not BAKE_FILE.is_file() or BAKE_FILE.read_text() != render()


def main() -> None:
    """Write the file; ci/bake runs this."""
    if is_stale():
        BAKE_FILE.write_text(render())
        print(f"{BAKE_FILE.name}: written")


if __name__ == "__main__":
    main()
