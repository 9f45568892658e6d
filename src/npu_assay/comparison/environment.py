"""What the two sides ran on and with: every recorded difference, and which of them could be a cause. Pure."""

from collections.abc import Iterator, Sequence

from npu_assay.comparison.facts import KIND, LOADED_CANN, LOADED_VERSION, Fact, Group
from npu_assay.strict import Strict


class Difference(Strict):
    """A fact that is not the same; None on a side that does not have it."""

    group: Group
    name: str
    a: str | None
    b: str | None


class EnvironmentComparison(Strict):
    """The section environment."""

    same: int
    """How many facts are the same."""
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]
    """Stages that found out nothing on one side: what they say of the other is compared with nothing."""
    causes: tuple[str, ...]
    """What a difference in results may come from: a setting, a version; whatever goes together once."""

    @property
    def attribution(self) -> str:
        """What a change is put down to: one cause where it is the only difference, else none."""
        match self.causes:
            case ():
                return "nothing that is recorded differs"
            case (cause,):
                return f"the only difference that is recorded: {cause}"
            case causes:
                named = ", ".join(causes)
                return f"{len(causes)} things differ, so a change is put down to none of them: {named}"

    def differs(self, group: Group) -> bool:
        """Whether any fact of the group differs."""
        return any(difference.group is group for difference in self.differences)


def compare_environments(a: Sequence[Fact], b: Sequence[Fact]) -> EnvironmentComparison:
    """Every difference, by group and then in the order in which A and B have it."""
    stages_a, stages_b = ({fact.stage for fact in side} for side in (a, b))
    known = (stages_a & stages_b) | {None}
    ours, theirs = (
        {(fact.group, fact.name): fact.value for fact in side if fact.stage in known} for side in (a, b)
    )
    both = dict.fromkeys((*ours, *theirs))
    order = list(Group)
    differences = sorted(
        (
            Difference(group=group, name=name, a=ours.get((group, name)), b=theirs.get((group, name)))
            for group, name in both
            if ours.get((group, name)) != theirs.get((group, name))
        ),
        key=lambda difference: order.index(difference.group),
    )
    return EnvironmentComparison(
        same=len(both) - len(differences),
        differences=tuple(differences),
        unknown=tuple(sorted(stage for stage in (stages_a ^ stages_b) if stage is not None)),
        causes=tuple(dict.fromkeys(_causes(differences))),
    )


#: Of a group whose facts are one cause together.
_TOGETHER = {
    Group.DEVICE: "the device",
    Group.CANN: "CANN",
    Group.LOCK: "the lock",
    Group.BUILD: "what is built",
    Group.LOADED: "where packages are loaded from",
    Group.SOURCE: "vllm-ascend",
    Group.MODEL: "the model",
    Group.DATA: "the data",
    Group.PIPELINE: "the pipeline",
    Group.IMAGE: "the image",
    Group.HOST: "the host",
    Group.PROJECT: "npu-assay",
}


def _causes(differences: Sequence[Difference]) -> Iterator[str]:
    """A setting and a version are each a cause; the facts of any other group are one together.

    What follows from another difference is none of its own: a lock and a pipeline file are where versions and
    settings stand, an image is that of its environment, a loaded version and its place are those of the lock
    or of the run's vllm-ascend, a module is built for the torch that is there, and prompts are made as
    settings say.
    """
    groups = {difference.group for difference in differences}
    told = {difference.name for difference in differences if difference.group is Group.VERSION}
    told |= {"vllm-ascend"} if Group.SOURCE in groups else set()
    for difference in differences:
        group, name = difference.group, difference.name
        match group:
            case Group.VERSION | Group.LOADED if name.removesuffix(LOADED_VERSION) in told - {name}:
                continue
            case Group.LOADED if f"{name}{LOADED_VERSION}" in told:
                continue
            case Group.BUILD if "torch" in told:
                continue
            case Group.LOCK if groups & {Group.VERSION, Group.BUILD, Group.CANN, Group.DEVICE}:
                continue
            case Group.IMAGE if groups & {Group.VERSION, Group.BUILD, Group.CANN, Group.DEVICE, Group.LOCK}:
                continue
            case Group.PIPELINE | Group.DATA if Group.SETTING in groups:
                continue
            case Group.VERSION | Group.SETTING:
                yield f"{group} {name} ({difference.a or 'none'}, {difference.b or 'none'})"
            case _:
                yield _TOGETHER[group]


def against_performance(
    a: Sequence[Fact], b: Sequence[Fact], comparison: EnvironmentComparison
) -> tuple[str, ...]:
    """Why the performance of the two sides can't be compared: other kinds of device, other CANN."""
    reasons = [
        f"{difference.name}: {difference.a or 'none'} in A, {difference.b or 'none'} in B"
        for difference in comparison.differences
        if difference.group is Group.CANN or (difference.group, difference.name) == (Group.DEVICE, KIND)
    ]
    for side, facts in (("A", a), ("B", b)):
        if not any(fact.name == LOADED_CANN for fact in facts):
            reasons.append(f"which CANN {side} had loaded is not recorded: its stage was not run")
    return tuple(reasons)
