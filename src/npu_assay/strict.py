"""The base of models that are read from or printed to others: unknown keys are refused, nothing changes."""

from pydantic import BaseModel, ConfigDict, ValidationError

from npu_assay.printable import printable
from npu_assay.wording import first_of


class Strict(BaseModel):
    """A frozen model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def first_problem(error: ValidationError) -> str:
    """The first of pydantic's problems in one line, with where it is, and how many more there are.

    Names in a document of somebody else's may hold anything.
    """
    problems = error.errors(include_url=False)
    where = ".".join(str(step) for step in problems[0]["loc"])
    return printable(first_of(f"{where + ': ' if where else ''}{problems[0]['msg']}", len(problems)))
