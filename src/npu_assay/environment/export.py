"""An environment for other tools: pip's constraints and requirements. The SBOM is in sbom.py."""

from collections.abc import Iterable

from npu_assay.environment.lock import UNVERIFIED, Component
from npu_assay.environment.requirements import Pin, read_pins
from npu_assay.environment.variant import Variant

#: Sources that pip can install from an index.
_INDEXED = ("index", "vendor-index")


def constraints(variant: Variant) -> str:
    """Every version, for `pip install -c`: no hashes, so that it constrains any installation."""
    lines = [f"{pin.name}=={pin.version}" for pin in _pins(variant)]
    for name, component in variant.components.items():
        if component.source in _INDEXED:
            lines.append(f"{name}=={component.version}")
        elif component.source == "git":
            lines.append(f"{name} @ git+{component.repository}@{component.commit}")
    return _head(variant) + "".join(f"{line}\n" for line in sorted(lines, key=str.lower))


def requirements(variant: Variant, architecture: str) -> str:
    """Every file, for `pip install --no-deps --require-hashes -r`.

    What pip can't install by a hash is a comment that says why.
    """
    blocks = {pin.name: _with_hashes(pin.name, pin.version, pin.sha256) for pin in _pins(variant)}
    for name, component in variant.components.items():
        if component.source in ("git", *_INDEXED):
            blocks[name] = _component(name, component, architecture)
    return _head(variant) + "".join(blocks[name] for name in sorted(blocks))


def _pins(variant: Variant) -> tuple[Pin, ...]:
    return read_pins(variant.lock.requirements_file)


def _head(variant: Variant) -> str:
    return f"# {variant.lock.name} ({variant.kind}), from the lock with sha256 {variant.lock.sha256}\n"


def _component(name: str, component: Component, architecture: str) -> str:
    if component.source == "git":
        return f"# {name}: built from {component.repository} at {component.commit}\n"
    sha256 = component.artefact_sha256(architecture)
    if sha256 is None or sha256 == UNVERIFIED:
        return (
            f"# {name}=={component.version}: its sha256 for {architecture} is {sha256 or 'not in the lock'}\n"
        )
    return _with_hashes(name, component.version, [sha256])


def _with_hashes(name: str, version: str, hashes: Iterable[str]) -> str:
    lines = [f"{name}=={version}", *(f"    --hash=sha256:{sha256}" for sha256 in sorted(hashes))]
    return " \\\n".join(lines) + "\n"
