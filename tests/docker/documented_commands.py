"""The commands of docs/images.md, ready to be run."""

import shlex

from markdown_parts import command_lines

from npu_assay.project import ROOT

PAGE = ROOT / "docs" / "images.md"


def documented_runs(image: str, folder: str) -> list[list[str]]:
    """Arguments for docker of each `docker run` in the section Run, with this image, in this folder."""
    section = PAGE.read_text().partition("\n## Run\n")[2].partition("\n## ")[0]
    found = []
    for line in command_lines(section):
        if line.startswith("docker run ") and " npu-assay:" in line:
            words = shlex.split(line.replace("$PWD", folder))
            found.append([image if word.startswith("npu-assay:") else word for word in words[1:]])
    return found
