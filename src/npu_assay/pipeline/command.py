"""Placeholders of a stage's command."""

import re
from collections.abc import Iterable, Mapping

#: What each stands for: ARCHITECTURE.md, "What a stage gets".
PLACEHOLDERS = (
    *("python", "assay", "suites", "junit", "archive", "site", "plugin"),
    *("tree", "vllm_ascend", "environment", "device"),
)
PLACEHOLDER = re.compile(r"\{(\w+)\}")


def fill_placeholders(command: Iterable[str], values: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The command's words with placeholders replaced.

    A value of several words (`{assay}`: a Python, `-m` and a module) takes the place of a whole word of the
    command.
    """
    filled: list[str] = []
    for word in command:
        whole = PLACEHOLDER.fullmatch(word)
        if whole is not None:
            filled.extend(values[whole[1]])
        else:
            filled.append(PLACEHOLDER.sub(lambda found: " ".join(values[found[1]]), word))
    return filled
