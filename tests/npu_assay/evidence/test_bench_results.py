"""What is read of vllm bench's summaries and files: failures count, and nothing is made up."""

import json

import pytest
import vllm_log_texts as texts

from npu_assay.errors import UsageError
from npu_assay.evidence.vllm_logs.bench_serve import (
    Figure,
    Latency,
    ServeSummary,
    read_serve_results,
    read_serve_summaries,
)
from npu_assay.evidence.vllm_logs.bench_throughput import (
    ThroughputResult,
    ThroughputSummary,
    Tokens,
    read_throughput_result,
    read_throughput_summaries,
)
from npu_assay.evidence.vllm_logs.pieces import UnknownLineError


def summaries(text: bytes) -> tuple[ServeSummary, ...]:
    return read_serve_summaries([text], "bench.log")


def test_a_summary_has_every_figure_with_its_line():
    (summary,) = summaries(texts.SERVE)
    assert (summary.line, summary.ended, summary.successful, summary.failed) == (3, True, 1000, 0)
    assert summary.duration_seconds == 23.73
    assert summary.figure("P99 TTFT (ms)") == Figure(13, "P99 TTFT (ms)", 18164.16)
    assert [figure.line for figure in summary.figures] == [4, 5, 6, 7, 8, 9, 10, 12, 13]
    # Newer versions write `token` with a small letter (0.18.0).
    assert summary.figure("Total token throughput (tok/s)").value == 14141.12
    assert summary.figure("Mean TPOT (ms)") is None


def test_no_success_and_a_summary_that_was_cut_are_read_as_such():
    (summary,) = summaries(texts.SERVE_ALL_FAILED)
    assert (summary.successful, summary.failed, summary.ended) == (0, 200, False)
    (old,) = summaries(texts.SERVE_OLD)
    assert (old.successful, old.failed, old.ended) == (10, None, True)  # not printed is not 0


def test_every_summary_of_a_log_is_read():
    assert summaries(b"nothing of it\n") == ()
    several = summaries(texts.SERVE + texts.SERVE_ALL_FAILED + texts.SERVE_OLD)
    assert [(one.line, one.successful, one.ended) for one in several] == [
        *((3, 1000, True), (15, 0, False), (21, 10, True)),
    ]


def test_what_others_write_between_is_no_figure():
    noise = (
        b"WARNING: one thing\n(EngineCore pid=1) INFO 07-31 [core.py:1] x\nPer-position acceptance (%):\n\n"
    )
    (summary,) = summaries(texts.SERVE.replace(b"Mean TTFT", noise + b"Mean TTFT"))
    assert [figure.label for figure in summary.figures] == [
        figure.label for figure in summaries(texts.SERVE)[0].figures
    ]


def test_a_label_wider_than_its_column_is_a_figure():
    wide = b"A label of more than forty characters (ms): 7.00\n"
    (summary,) = summaries(texts.SERVE.replace(b"-----", wide + b"-----", 1))
    assert summary.figure("A label of more than forty characters (ms)").value == 7.0


@pytest.mark.parametrize(
    ("found", "instead", "problem"),
    [
        (
            b"  1000 ",
            b"  nan",
            r"bench\.log:4: expected a label and a number, found 'Successful requests: nan",
        ),
        (b"  1000 ", b"  99.5", "found 'Successful requests: 99.5"),
        (b"  1000 ", b"  -1", "found 'Successful requests: -1"),
        (b"  1000 ", b"  xxxx", "found 'Successful requests: xxxx"),
        (b"Successful requests:                     1000", b"Successful Requests:    99.5", "Requests: 99.5"),
        (b"9408.20", b"nan", "found 'Mean TTFT .ms.: nan"),
        (b"9408.20", b"inf", "found 'Mean TTFT .ms.: inf"),
        (b"9408.20", b"N/A", "found 'Mean TTFT .ms.: N/A"),
        (b"9408.20", b"9408.20 <<< new", "found 'Mean TTFT .ms.: 9408.20 <<< new"),
        (b"P99", b"Mean", "expected 'Mean TTFT .ms.' once in a summary"),
        (b"Successful requests:", b"Successes:          ", "expected 'Successful requests:' in this summary"),
        (b"Benchmark duration (s)", b"Benchmark time (s)    ", "expected 'Benchmark duration .s.:' in this"),
        (
            b"= Serving Benchmark Result =",
            b"= Serving Benchmark Results",
            "found '.*Serving Benchmark Results",
        ),
        (b"============ Serving Benchmark Result ============\n", b"", "found 'Successful requests: 1000'"),
        (b"Failed requests:   ", b"Failed requests: n/a", "found 'Failed requests: n/a"),
    ],
)
def test_a_summary_that_is_not_as_it_should_be_is_an_error(found, instead, problem):
    assert summaries(texts.SERVE)[0].successful == 1000
    assert found in texts.SERVE
    with pytest.raises(UsageError, match=problem) as error:
        summaries(texts.SERVE.replace(found, instead, 1))
    assert str(error.value).startswith("bench.log:")


def test_the_file_of_a_run_with_failures():
    (result,) = read_serve_results([texts.SERVE_JSON], "bench.json")
    assert (result.completed, result.failed, result.num_prompts, result.without_success) == (497, 3, 500, 3)
    assert (result.duration_seconds, result.total_output_tokens) == (65.714, 8000)
    assert result.latencies == (Latency("mean_ttft_ms", 5027.2), Latency("p99_ttft_ms", 6000.0))
    appended = texts.SERVE_JSON + b"\n" + texts.SERVE_JSON
    assert [one.line for one in read_serve_results([appended], "bench.json")] == [1, 2]


def serve_json(**changed: object) -> bytes:
    values = {**json.loads(texts.SERVE_JSON), **changed}
    return json.dumps({key: value for key, value in values.items() if value != "missing"}).encode()


def test_a_field_that_a_version_does_not_write_is_not_0():
    (result,) = read_serve_results([serve_json(failed="missing")], "bench.json")
    assert (result.failed, result.without_success) == (None, 3)
    (result,) = read_serve_results([serve_json(num_prompts="missing")], "bench.json")
    assert result.without_success is None
    (result,) = read_serve_results([serve_json(completed=0, failed=500)], "bench.json")
    assert (result.completed, result.without_success) == (0, 500)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"completed": "missing"}, "a whole number of at least 0 as completed, which is missing"),
        ({"completed": None}, "completed to be a whole number of at least 0, found None"),
        ({"completed": "497"}, "completed to be a whole number of at least 0, found '497'"),
        ({"completed": 497.0}, "completed to be a whole number of at least 0, found 497.0"),
        ({"failed": None}, "failed to be a whole number of at least 0, found None"),
        ({"failed": True}, "failed to be a whole number of at least 0, found True"),
        ({"duration": "missing"}, "a finite number as duration, which is missing"),
        ({"request_throughput": float("nan")}, "NaN is no JSON number"),
        ({"request_throughput": float("inf")}, "Infinity is no JSON number"),
        ({"itls": [[float("nan")]]}, "NaN is no JSON number"),
        ({"mean_ttft_ms": None}, "mean_ttft_ms to be a finite number, found None"),
        ({"mean_ttft_ms": "5"}, "mean_ttft_ms to be a finite number, found '5'"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_an_error(changed, problem):
    assert len(list(read_serve_results([serve_json()], "bench.json"))) == 1
    with pytest.raises(UsageError, match=problem) as error:
        list(read_serve_results([serve_json() + b"\n" + serve_json(**changed)], "bench.json"))
    assert str(error.value).startswith("bench.json:2: expected ")


@pytest.mark.parametrize("number", [b"1e999", b"9" * 400])
def test_a_number_that_no_float_holds_is_an_error(number):
    row = texts.SERVE_JSON.replace(b"65.714", number)
    with pytest.raises(UsageError, match="duration to be a finite number"):
        list(read_serve_results([row], "bench.json"))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            texts.THROUGHPUT,
            [ThroughputSummary(1, 5.02, 1927.04, 642.35, Tokens(2, 25600), Tokens(3, 12800))],
        ),
        (texts.THROUGHPUT_OLD, [ThroughputSummary(1, 5.02, 1927.04, None)]),
        (
            texts.THROUGHPUT_OLD + texts.THROUGHPUT,
            [
                ThroughputSummary(1, 5.02, 1927.04, None),
                ThroughputSummary(2, 5.02, 1927.04, 642.35, Tokens(3, 25600), Tokens(4, 12800)),
            ],
        ),
        (b"INFO Avg prompt throughput: 100.0 tokens/s, Avg generation throughput: 5.0 tokens/s\n", []),
    ],
)
def test_every_form_of_the_throughput(text, read):
    assert read_throughput_summaries([text], "bench.log") == tuple(read)


@pytest.mark.parametrize(
    "line",
    [
        "Throughput: nan requests/s, 1927.04 total tokens/s, 642.35 output tokens/s",
        "Throughput: 5.02 requests/s",
        "Throughput: 5.02 requests/s, 1927.04 total tokens/s",
        "Throughput: 5.02 requests/s, 1927.04 tokens/s per NPU",
        "Throughput: 5,02 requests/s, 1927.04 tokens/s",
        "Total num prompt tokens:  25600",  # twice
        "Total num output tokens: -",
        "Total num output tokens",
    ],
)
def test_an_unknown_form_of_the_throughput_is_an_error(line):
    assert len(read_throughput_summaries([texts.THROUGHPUT], "bench.log")) == 1
    with pytest.raises(UnknownLineError, match=r"^bench\.log:4: expected 'Throughput: N requests/s"):
        read_throughput_summaries([texts.THROUGHPUT + line.encode()], "bench.log")


def test_numbers_of_tokens_without_a_throughput_are_an_error():
    _, rest = texts.THROUGHPUT.split(b"\n", 1)
    with pytest.raises(UnknownLineError, match=r"^bench\.log:1: "):
        read_throughput_summaries([rest], "bench.log")


@pytest.mark.parametrize(
    ("found", "instead", "problem"),
    [
        (b"5.02", b"NaN", "NaN is no JSON number"),
        (b"num_requests", b"requests", "a whole number of at least 0 as num_requests, which is missing"),
        (b"100", b"100.5", "num_requests to be a whole number of at least 0, found 100.5"),
        (b"19.9", b"null", "elapsed_time to be a finite number, found None"),
        (b"{", b"", "expected one JSON object"),
        (b"{", b"{" + b" " * (1 << 20), "expected a JSON object of at most 1048576 bytes"),
    ],
)
def test_the_file_of_a_throughput(found, instead, problem):
    result = read_throughput_result([texts.THROUGHPUT_JSON], "bench.json")
    assert result == ThroughputResult(19.9, 100, 38400, 5.02, 1927.04)
    with pytest.raises(UsageError, match=problem):
        read_throughput_result([texts.THROUGHPUT_JSON.replace(found, instead, 1)], "bench.json")
