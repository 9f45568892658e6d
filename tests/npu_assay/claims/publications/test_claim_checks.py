"""What is said of a claim besides its number: units, switches, environments, and what is known."""

from decimal import Decimal
from typing import Any

import pytest
from planted_publication import claim_of, planted

from npu_assay.claims.publications.derivations import Verdict
from npu_assay.claims.publications.judgement import judge

ONE, TWO = "entries/group-8-num-1", "entries/group-8-num-2"
BEST = "entries/best/figures/change/derived/0"


@pytest.mark.parametrize(
    ("publication", "claim", "by", "changes", "verdict", "note"),
    [
        pytest.param(
            "offload-groups",
            "group-8-num-1.weights-saved",
            "weights",
            {f"{ONE}/figures/weights-saved/unit": "GB", f"{ONE}/figures/weights-saved/printed": None},
            Verdict.DIFFERS,
            "3 layers of 93,595,648 bytes; right in GiB",
            id="GB for GiB",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.kv-cache",
            "sum",
            {f"{ONE}/figures/weights-saved/unit": "GB", f"{ONE}/figures/weights-saved/printed": None},
            Verdict.DIFFERS,
            "",
            id="a sum of GiB and GB",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.kv-cache",
            "sum",
            {f"{ONE}/figures/weights-saved/unit": "s", f"{ONE}/figures/weights-saved/printed": None},
            Verdict.DIFFERS,
            "s can't be given in GiB",
            id="a sum of GiB and seconds",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.change",
            "change",
            {f"{ONE}/switches/enforce-eager": True},
            Verdict.ATTRIBUTED_WRONGLY,
            "put down to offload-group-size, but from baseline to group-8-num-1 differ"
            " offload-group-size, enforce-eager",
            id="another switch",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-2.change",
            "change",
            {f"{TWO}/figures/change/derived/0/attributed_to": ["offload-num-in-group"]},
            Verdict.ATTRIBUTED_WRONGLY,
            "put down to offload-num-in-group, but from baseline to group-8-num-2 differ"
            " offload-group-size, offload-num-in-group",
            id="one of two switches",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.change",
            "change",
            {f"{ONE}/environment": "cann900"},
            Verdict.REFUSED,
            "group-8-num-1 and baseline are of two environments: cann 9.0.0 and 8.5.1,"
            " python 3.11.6 and 3.11, vllm-ascend 0.1.dev1+g72dc68973.d20260729 and"
            " 72dc68973bd7e6ceef9a122de316a7ee9c9a84aa,"
            " torch-npu 2.9.0.post2 and 2.9.0, triton-ascend 3.2.1 and 3.2.0.dev20260322",
            id="two CANN versions",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.kv-cache",
            "sum",
            {
                f"{ONE}/environment": "cann900",
                "environments/cann900/components": {"cann": "9.0.0"},
                "environments/cann851/components": {"cann": "8.5.1"},
            },
            Verdict.REFUSED,
            "group-8-num-1 and baseline are of two environments: cann 9.0.0 and 8.5.1",
            id="two CANN versions in a sum",
        ),
        *(
            pytest.param(
                "offload-groups",
                f"gsm8k-group-8-num-1.{figure}",
                by,
                {"entries/gsm8k-group-8-num-1/environment": "cann851"},
                Verdict.REFUSED,
                "gsm8k-group-8-num-1 and gsm8k-baseline are of two environments: cann 8.5.1 and 9.0.0",
                id=f"two CANN versions, {by}",
            )
            for figure, by in (("change", "difference"), ("examples-sha256", "same"))
        ),
        pytest.param(
            "offload-groups",
            "gsm8k-group-8-num-1.accuracy",
            "share",
            {"entries/gsm8k-group-8-num-1/figures/accuracy/derived/0/part": "group-8-num-1.right"}
            | {f"{ONE}/figures/right": {"value": 953, "unit": "rows"}},
            Verdict.REFUSED,
            "gsm8k-group-8-num-1 and group-8-num-1 are of two environments: cann 9.0.0 and 8.5.1",
            id="a share of another CANN version",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.throughput",
            "rate",
            {f"{ONE}/figures/throughput/derived/1/latency": "gsm8k-baseline.latency"}
            | {"entries/gsm8k-baseline/figures/latency": {"value": Decimal("0.7501"), "unit": "s"}},
            Verdict.REFUSED,
            "group-8-num-1 and gsm8k-baseline are of two environments: cann 8.5.1 and 9.0.0",
            id="a latency of another CANN version",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.change",
            "change",
            {f"{ONE}/under": ["protocol"]},
            Verdict.REFUSED,
            "group-8-num-1 is under protocol, baseline under workload",
            id="two workloads",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.change",
            "change",
            {"no_performance": "times are no evidence"},
            Verdict.REFUSED,
            "no evidence, as the document says: times are no evidence",
            id="no performance",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.change",
            "change",
            {"entries/baseline/figures/throughput/value": 0},
            Verdict.DIFFERS,
            "its figures lead to a division by zero",
            id="division by zero",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.throughput",
            "rate",
            {f"{ONE}/figures/latency/value": Decimal("0.7601")},
            Verdict.DIFFERS,
            "more than 0.6 % off",
            id="a latency that does not fit",
        ),
        pytest.param(
            "dbo-and-kv-bytes",
            "best.throughput",
            "concurrency",
            {"entries/best/figures/tpot/unit": "s"},
            Verdict.DIFFERS,
            "more than 3 % off",
            id="seconds for milliseconds",
        ),
        pytest.param(
            "offload-groups",
            "group-8-num-1.layers",
            "layers",
            {f"{ONE}/switches/offload-num-in-group": 2},
            Verdict.DIFFERS,
            "",
            id="layers of other switches",
        ),
        pytest.param(
            "offload-groups",
            "gsm8k-group-8-num-1.samples",
            "same",
            {"entries/datasets/figures/gsm8k-rows/unit": "tokens"},
            Verdict.DIFFERS,
            "tokens can't be given in rows",
            id="the same number of something else",
        ),
    ],
)
def test_a_fault_is_found(
    publication: str, claim: str, by: str, changes: dict[str, Any], verdict: Verdict, note: str
) -> None:
    assert claim_of(planted(publication), claim, by).verdict is Verdict.AGREES
    found = claim_of(planted(publication, changes), claim, by)
    assert found.verdict is verdict
    assert note in found.note


def test_all_faults_are_reported() -> None:
    changes = {
        f"{ONE}/figures/change/value": Decimal("-8.62"),
        f"{TWO}/figures/change/value": Decimal("-48.38"),
        "entries/gpqa-baseline/figures/accuracy/value": Decimal("23.7375"),
    }
    assert [claim.claim for claim in judge(planted("offload-groups", changes)).contradictions] == [
        "group-8-num-1.change",
        "group-8-num-2.change",
        "gpqa-baseline.accuracy",
        "gpqa-group-8-num-1.change",  # which is measured against it
        "gpqa-group-8-num-2.change",
    ]


def test_a_gain_of_several_switches_says_so() -> None:
    one, two = (
        claim_of(planted("offload-groups"), f"group-8-num-{number}.change", "change") for number in (1, 2)
    )
    assert one.note == ""
    assert two.note == (
        "of 2 switches together, of none of them alone: offload-group-size, offload-num-in-group"
    )


def test_what_is_known_must_still_be_so() -> None:
    known = claim_of(planted("dbo-and-kv-bytes"), "best.change", "change")
    assert (known.verdict, known.contradicts) == (Verdict.ATTRIBUTED_WRONGLY, False)
    forgotten = planted("dbo-and-kv-bytes", {f"{BEST}/known": None})
    assert claim_of(forgotten, "best.change", "change").contradicts
    switches = ["enable-dbo", "flashcomm1", "hccl-op-expansion-mode"]
    mended = claim_of(
        planted("dbo-and-kv-bytes", {f"{BEST}/attributed_to": switches}), "best.change", "change"
    )
    assert (mended.verdict, mended.contradicts) == (Verdict.AGREES, True)


def test_a_median_is_recomputed_where_its_runs_are_there() -> None:
    key = f"{ONE}/figures/throughput/runs"
    runs = [Decimal("678.85"), Decimal("680"), Decimal("670.01")]
    claim, by = "group-8-num-1.throughput", "median"
    absent = claim_of(planted("offload-groups"), claim, by)
    assert (absent.verdict, absent.recomputed) == (Verdict.CANNOT_BE_RECOMPUTED, None)
    assert absent.note == "the 3 runs are not published"
    assert claim_of(planted("offload-groups", {key: runs}), claim, by).verdict is Verdict.AGREES
    two = claim_of(planted("offload-groups", {key: runs[:2]}), claim, by)
    assert (two.verdict, two.note) == (Verdict.DIFFERS, "the median of 3 runs, but 2 are there")
