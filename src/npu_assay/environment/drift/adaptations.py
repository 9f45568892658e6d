"""Differences in the plug-in of this checkout."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from npu_assay.cache import tree_digest
from npu_assay.diagnosis import Level
from npu_assay.environment.drift.difference import Difference
from npu_assay.environment.drift.look import Look
from npu_assay.environment.installed import Installed, installed
from npu_assay.project import ADAPTATIONS

NAME = "vllm-ascend-params"
PACKAGE = "vllm_ascend_params"


def adaptations(look: Look, source: Path = ADAPTATIONS) -> Iterator[Difference]:
    """The plug-in is there, and is this checkout's."""
    for site in (look.adaptations, look.site_packages):
        if site is not None and (there := installed(site).get(NAME)):
            package = _package(site, there)
            if not package.is_dir() or tree_digest(package) != tree_digest(source / PACKAGE):
                yield _difference(
                    look, f"the plug-in in {package} is not that of {source}", found=str(package)
                )
            return
    yield _difference(
        look,
        f"the plug-in {NAME} is not installed: vLLM's offload parameters do nothing on Ascend",
        found=None,
    )


def _package(site: Path, there: Installed) -> Path:
    """Where its modules are; an editable installation says so in direct_url.json (PEP 610)."""
    try:
        direct = json.loads((there.dist_info / "direct_url.json").read_text())
        if direct["dir_info"].get("editable"):
            return Path(url2pathname(urlsplit(direct["url"]).path)) / PACKAGE
    except (OSError, ValueError, KeyError):
        pass
    return site / PACKAGE


def _difference(look: Look, message: str, found: str | None) -> Difference:
    return Difference(
        check="adaptations",
        level=Level.PROBLEM,
        subject=NAME,
        expected="this checkout's",
        found=found,
        message=message,
        advice=look.mend.adaptations(),
    )
