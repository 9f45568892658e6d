"""The base of models that are read from or printed to others: unknown keys are refused, nothing changes."""

from pydantic import BaseModel, ConfigDict, ValidationError


class Strict(BaseModel):
    """A frozen model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def first_problem(error: ValidationError) -> str:
    """The first of pydantic's problems in one line, with where it is."""
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(step) for step in problem["loc"])
    return f"{where + ': ' if where else ''}{problem['msg']}"
