"""Step adaptations: our vLLM plug-in as a folder for PYTHONPATH, with the dist-info of its entry points.

It is kept outside of the venv and keyed by its content, so that a changed line makes only this step run
again, and a run without the plug-in is one without a path.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from npu_assay.cache import is_complete, make_folder
from npu_assay.environment.environment import Environment
from npu_assay.environment.pip import run_pip
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.errors import UnusableError


def _install(environment: Environment, report: Report) -> Facts:
    source = environment.adaptations_source
    if not (source / "pyproject.toml").is_file():
        raise UnusableError(
            f"{source}: no pyproject.toml; the plug-in is installed from npu-assay's own checkout"
        )

    def make(folder: Path) -> Mapping[str, object]:
        # A copy, because setuptools builds inside the source folder.
        draft = folder / "source"
        shutil.copytree(source, draft, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        run_pip(
            environment,
            ["install", "--no-deps", "--no-build-isolation", "--target", str(folder / "site"), str(draft)],
            log=folder / "install.log",
            doing="step adaptations: pip install",
        )
        shutil.rmtree(draft)
        return {"source": str(source)}

    folder = environment.adaptations_folder
    make_folder(folder, make, lambda: report(f"waiting for another npu-assay that makes {folder}"))
    return {"site": str(environment.adaptations)}


def _done(environment: Environment) -> bool:
    return is_complete(environment.adaptations_folder)


STEP = Step(name="adaptations", needs=("python",), run=_install, done=_done)
