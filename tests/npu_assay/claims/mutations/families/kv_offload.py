"""The rounds of KV cache offloading and the comparison with the CPU."""

from collections.abc import Callable

from mutations.forged import Forged, Json
from mutations.mutation import EMULATED, Mutation
from npu_assay.claims.findings import Result

ROUNDS, CPU_TOKENS = "results/kv-offload.jsonl", "results/tokens-equal-cpu.jsonl"


def _rows(name: str, edit: Callable[[list[Json]], list[Json]], **more: object) -> Mutation:
    return Mutation(
        name,
        lambda forged: forged.write_rows(ROUNDS, edit(forged.rows(ROUNDS))),
        "offload-rounds",
        names=ROUNDS,
        **more,
    )


def _round(name: str, **values: object) -> Mutation:
    return Mutation(
        f"a round: {name}",
        lambda forged: forged.edit_row(ROUNDS, 1, **values),
        "offload-rounds",
        names=ROUNDS,
    )


def _unsure(name: str, **values: object) -> Mutation:
    return Mutation(
        f"a round: {name}",
        lambda forged: forged.edit_row(ROUNDS, 1, **values),
        "offload-rounds",
        result=Result.INCONCLUSIVE,
        names=ROUNDS,
    )


def _text(name: str, old: str, new: str) -> Mutation:
    return Mutation(
        f"a round: {name}", lambda forged: forged.substitute(ROUNDS, old, new), "offload-rounds", names=ROUNDS
    )


def _tokens(name: str, edit: Callable[[list[int]], list[object]], *keys: str) -> Mutation:
    """In one of the lists, or in both alike."""

    def change(forged: Forged) -> None:
        rows = forged.rows(ROUNDS)
        for key in keys or ("cold_token_ids", "external_token_ids"):
            rows[1][key] = edit(list(rows[1][key]))
        forged.write_rows(ROUNDS, rows)

    return Mutation(f"a round: {name}", change, "offload-rounds", names=ROUNDS)


def _last(value: object) -> Callable[[list[int]], list[object]]:
    return lambda ids: [*ids[:-1], value]


def _cpu(name: str, change: Callable[[Forged], object]) -> Mutation:
    return Mutation(f"the CPU's tokens: {name}", change, "cpu-tokens", kinds=(EMULATED,), names=CPU_TOKENS)


def _cpu_row(name: str, edit: Callable[[Json], Json]) -> Mutation:
    def change(forged: Forged) -> None:
        first, *rest = forged.rows(CPU_TOKENS)
        forged.write_rows(CPU_TOKENS, [first | edit(first), *rest])

    return _cpu(name, change)


def _other_prompt(rows: list[Json]) -> list[Json]:
    return [rows[0], rows[1] | {"prompt_sha256": rows[0]["prompt_sha256"]}, *rows[2:]]


def _renumbered(rows: list[Json]) -> list[Json]:
    """The first round again, passed off as the second."""
    return [rows[0], rows[0] | {"run": rows[1]["run"]}, *rows[2:]]


def _swapped(rows: list[Json]) -> list[Json]:
    """Only the log knows which prompt came first."""
    return [rows[1] | {"run": 1}, rows[0] | {"run": 2}, *rows[2:]]


def _disguised(rows: list[Json]) -> list[Json]:
    """The same, with a prompt hash of its own."""
    return [rows[0], rows[0] | {"run": rows[1]["run"], "prompt_sha256": rows[1]["prompt_sha256"]}, *rows[2:]]


MUTATIONS = (
    _rows("a round dropped", lambda rows: rows[:-1]),
    _rows("all but one round dropped", lambda rows: rows[:1]),
    _rows("no rounds", lambda rows: []),
    _rows("a round twice", lambda rows: [*rows, rows[-1]]),
    _rows(
        "a round too many", lambda rows: [*rows, rows[-1] | {"run": len(rows) + 1, "prompt_sha256": "a" * 64}]
    ),
    _rows("rounds swapped", lambda rows: [rows[1], rows[0], *rows[2:]]),
    _rows("rounds backwards", lambda rows: rows[::-1]),
    Mutation(
        "rounds swapped and renumbered",
        lambda forged: forged.write_rows(ROUNDS, _swapped(forged.rows(ROUNDS))),
        "results",
        names=ROUNDS,
    ),
    _rows("run numbers from 0", lambda rows: [row | {"run": row["run"] - 1} for row in rows]),
    _rows("the first round passed off as the second", _renumbered),
    _rows("the same with the second's prompt", _disguised),
    _rows("a prompt twice", _other_prompt),
    _rows(
        "rows of another backend beside them",
        lambda rows: [*rows, *(row | {"backend": "lmcache"} for row in rows)],
    ),
    _rows("all rows of another backend", lambda rows: [row | {"backend": "lmcache"} for row in rows]),
    _rows("an empty row", lambda rows: [*rows, {}]),
    _round("cached 255", external_cached_tokens=255),
    _round("cached 257", external_cached_tokens=257),
    _round("cached 0", external_cached_tokens=0),
    _round("cached the whole prompt", external_cached_tokens=300),
    _round("cached as text", external_cached_tokens="256"),
    _round("cached as fraction", external_cached_tokens=256.0),
    _round("not cold", cold_cached_tokens=128),
    _round("the prefix cache was not dropped", reset_prefix_cache=False),
    _round("dropped as number", reset_prefix_cache=1),
    _round("a shorter prompt", prompt_tokens=299),
    _round("a longer prompt", prompt_tokens=512, external_cached_tokens=384),
    _round("of another backend", backend="lmcache"),
    _round("Stored 512", stored_tokens=512),
    _round("Retrieved 256 by nobody", retrieved_tokens=256),
    _round("no seconds", external_seconds=0),
    _round("negative seconds", cold_seconds=-1.5),
    _round("seconds as text", cold_seconds="0.7"),
    _round("seconds null", cold_seconds=None),
    _round("longer than its stage", cold_seconds=1e6),
    _round("of two dies", tensor_parallel_size=2),
    _round("a prompt hash that is none", prompt_sha256="abc"),
    _round("no tokens", cold_token_ids=[], external_token_ids=[]),
    _round("run as fraction", run=2.0),
    _round("run as true", run=True),
    _unsure("external null", external_cached_tokens=None),
    _unsure("cold null", cold_cached_tokens=None),
    _unsure("reset null", reset_prefix_cache=None),
    _unsure("no prompt hash", prompt_sha256=None),
    _text("NaN seconds", r'"cold_seconds": [\d.e-]+', '"cold_seconds": NaN'),
    _text("infinite seconds", r'"cold_seconds": [\d.e-]+', '"cold_seconds": Infinity'),
    _text("seconds out of range", r'"cold_seconds": [\d.e-]+', '"cold_seconds": 1e999'),
    _text("a key twice", r"^\{", '{"external_cached_tokens": 0, '),
    _text("a line that is no JSON", r"^.*$", "round 1: fine"),
    _text("a row over two lines", r', "', ',\n"'),
    _tokens("one token id", _last(6), "external_token_ids"),
    _tokens("the last token missing", lambda ids: ids[:-1], "external_token_ids"),
    _tokens("tokens in another order", lambda ids: [*ids[1:], ids[0]], "external_token_ids"),
    _tokens("a negative token id in both", _last(-1)),
    _tokens("a token id beyond any vocabulary in both", _last(2**40)),
    _tokens("a fraction in both", _last(5.0)),
    _tokens("true in both", _last(True)),
    _tokens("text in both", _last("5")),
    _tokens("one token less in both", lambda ids: ids[:-1]),
    Mutation("the results empty", lambda forged: forged.write(ROUNDS, b""), "offload-rounds", names=ROUNDS),
    Mutation(
        "the results nested too deep",
        lambda forged: forged.write(ROUNDS, b'{"run": ' + b"[" * 100_000),
        "offload-rounds",
        names=ROUNDS,
    ),
    Mutation(
        "the results cut within a row",
        lambda forged: forged.write(ROUNDS, forged.read(ROUNDS)[:-20]),
        "offload-rounds",
        names=ROUNDS,
    ),
    Mutation(
        "rounds of another kind of device",
        lambda forged: forged.write_rows(
            ROUNDS, [row | {"device_kind": "elsewhere"} for row in forged.rows(ROUNDS)]
        ),
        "offload-rounds",
        names=ROUNDS,
    ),
    _cpu("empty", lambda forged: forged.write(CPU_TOKENS, b"")),
    _cpu("a row dropped", lambda forged: forged.write_rows(CPU_TOKENS, forged.rows(CPU_TOKENS)[:-1])),
    _cpu("a row twice", lambda f: f.write_rows(CPU_TOKENS, [*f.rows(CPU_TOKENS), f.rows(CPU_TOKENS)[-1]])),
    _cpu_row("one id", lambda row: {"cpu_token_ids": _last(1)(row["cpu_token_ids"])}),
    _cpu_row("none at all", lambda row: {"npu_token_ids": [], "cpu_token_ids": []}),
    _cpu_row("one less in both", lambda row: {k: row[k][:-1] for k in ("npu_token_ids", "cpu_token_ids")}),
    _cpu_row(
        "a negative id in both", lambda row: {key: [-1, -1] for key in ("npu_token_ids", "cpu_token_ids")}
    ),
    _cpu_row("a prompt of another length", lambda row: {"prompt_tokens": row["prompt_tokens"] + 1}),
)
