"""Small excerpts of logs, each form once, for the tests of evidence/vllm_logs and for the fuzzer.

Lines come from public issues and pull requests, named beside them, or are what the format strings of the
version named beside them print.
"""

KV_V0 = b"""\
Memory profiling results: total_gpu_memory=23.58GiB kv_cache_size=2.89GiB gpu_memory_utilization=0.90
# GPU blocks: 1478, # CPU blocks: 2048
Maximum concurrency for 29000 tokens per request: 0.82x
"""  # vllm#10517
KV_V0_NPU = b"INFO 03-02 executor_base.py:111] # npu blocks: 2048, # CPU blocks: 512\n"  # vLLM 0.7
KV_BLOCKS = b"""\
INFO 02-20 00:01:02 kv_cache_utils.py:522] # GPU blocks: 127626
INFO 02-20 00:01:02 kv_cache_utils.py:525] Maximum concurrency for 2048 tokens per request: 997.08x
"""  # vllm#13596, before
KV_TOKENS = b"""\
INFO 02-19 23:56:55 kv_cache_utils.py:524] GPU KV cache size: 2,042,016 tokens
INFO 02-19 23:56:55 kv_cache_utils.py:527] Maximum concurrency for 2,048 tokens per request: 997.08x
"""  # vllm#13596, after
KV_HYBRID = b"""\
INFO [kv_cache_utils.py:1319] GPU KV cache size: 290,864 tokens
INFO [kv_cache_utils.py:1324] Maximum concurrency for 32,768 tokens per request: 33.04x
"""  # vllm#40691, 0.19.0
# vllm#54662
KV_ONE_LINE = (
    b"GPU KV cache size: 1,553,140 tokens, Maximum concurrency for 1,000,000 tokens per request: 1.55x\n"
)
KV_TWO_IN_A_BOOT = b"""\
2025-10-15T08:43:28.506612Z  INFO kv_cache_utils._get_kv_cache_config_uniform_type: GPU KV cache size: 739,536 tokens\x20\x20
2025-10-15T08:43:28.507280Z  INFO kv_cache_utils._get_kv_cache_config_uniform_type: GPU KV cache size: 735,440 tokens\x20\x20
"""  # noqa: E501  dynamo#3643
KV_ENGINES = b"""\
(Worker_TP0 pid=11) INFO 11-13 11:03:06 [gpu_worker.py:359] Available KV cache memory: 52.36 GiB
(Worker_TP1 pid=12) INFO 11-13 11:03:06 [gpu_worker.py:359] Available KV cache memory: 52.4 GiB
(EngineCore_DP0 pid=1) INFO 11-13 11:03:06 [kv_cache_utils.py:1308] Multiplying the GPU KV cache size by the \
cp_world_size 2 (pcp_world_size 1 * dcp_world_size 2).
\x1b[1;36m(EngineCore_DP0 pid=1)\x1b[0;0m \x1b[32mINFO\x1b[0m 11-13 11:03:06 \x1b[90m[kv_cache_utils.py:1316]\
\x1b[0m GPU KV cache size: 317,136 tokens
(EngineCore_DP1 pid=2) INFO 11-13 11:03:06 [kv_cache_utils.py:1316] GPU KV cache size: 317,008 tokens
(EngineCore_DP1 pid=2) INFO 11-13 11:03:06 [kv_cache_utils.py:1321] Maximum concurrency for 3,072 tokens per \
request: 103.19x
(EngineCore_DP0 pid=1) INFO 11-13 11:03:06 [kv_cache_utils.py:1321] Maximum concurrency for 3,072 tokens per \
request: 103.23x
"""  # as vLLM 0.18.0 prints it: utils/system_utils.py, logging_utils/formatter.py, v1/core/kv_cache_utils.py

MEMORY = (
    b"(EngineCore_DP0 pid=1133552) INFO 10-03 16:22:17 [gpu_worker.py:298] "
    b"Available KV cache memory: 6.51 GiB\n"
)  # LMCache#1739
MEMORY_NEGATIVE = (
    b"INFO [worker.py:358] Available KV cache memory: -23.55 GiB\n"  # utilization below the weights'
)
MEMORY_RESERVED = (
    b"INFO [gpu_worker.py:382] Initial free memory 60.9 GiB, reserved 8.0 GiB memory for KV Cache as "
    b"specified by kv_cache_memory_bytes config and skipped memory profiling. This does not respect the "
    b"gpu_memory_utilization config. Only use kv_cache_memory_bytes config when you want manual control\n"
)  # vLLM 0.18.0
MEMORY_RESERVED_ASCEND = (
    b"INFO [worker.py:479] Initial free memory 60.90 GiB, reserved 8.00 GiB for KV Cache as specified by "
    b"kv_cache_memory_bytes, skipping memory profiling. This does not respect the config.\n"
)  # vllm-ascend 0.22.1rc1
MEMORY_ERROR = (
    b"ValueError: To serve at least one request with the models's max seq len (32000), (1.1 GiB KV cache is "
    b"needed, which is larger than the available KV cache memory (0.59 GiB).\n"
)

LMCACHE_STORED_OLD = (
    b"[2025-07-04 15:30:01,219] LMCache INFO: Stored 0 out of total 512 tokens. size: 0.0000 gb, "
    b"cost 1.4829 ms, throughput: 0.0000 GB/s; offload_time: 1.4738 ms, put_time: 0.0091 ms "
    b"(cache_engine.py:224:lmcache.v1.cache_engine)\n"
)  # LMCache#972
LMCACHE_STORED = (
    b"(EngineCore pid=7) [2026-07-31 00:08:43,982] LMCache INFO: [req_id=cmpl-1-0] Stored 256 out of "
    b"total 300 tokens. size: 0.0352 GB, cost 1.95 ms, throughput: 1.98 GB/s; "
    b"offload_time: 1.88 ms, put_time: 0.07 ms (cache_engine.py:553:lmcache.v1.cache_engine)\n"
)  # LMCache 0.4.4
LMCACHE_STORED_GROUP = (
    b"LMCache INFO: [req_id=r kv_group=0] Stored 256 out of total 256 tokens. size: 0.1 GB\n"  # after 0.4.4
)
# LMCache#1623
LMCACHE_RETRIEVED_OLD = (
    b"Retrieved 128 out of total 256 out of total 512 tokens. size: 0.0625 gb, cost 25 ms\n"
)
LMCACHE_RETRIEVED = (
    b"(EngineCore_DP0 pid=494270) [2025-09-30 01:12:36,502] LMCache INFO: Retrieved 8 out of 24 "
    b"required tokens (from 32 total tokens). size: 0.0011 gb, cost 0.55 ms, throughput: 1.98 GB/s;\n"
)  # LMCache#3110
LMCACHE_RETRIEVED_REQUEST = (
    b"LMCache INFO: [req_id=cmpl-1-0] Retrieved 256 out of 256 required tokens (from 300 total tokens). "
    b"size: 0.0352 gb, cost 0.55 ms, throughput: 1.98 GB/s; (cache_engine.py:887:lmcache.v1.cache_engine)\n"
)  # LMCache 0.4.4
LMCACHE_LAYERS = (
    b"LMCache INFO: [req_id=r] Retrieved 256 out of 256 out of total 300 tokens (cache_engine.py:1048)\n"
    b"LMCache INFO: Retrieved 256 tokens (vllm_v1_adapter.py:970:lmcache.integration.vllm.vllm_v1_adapter)\n"
    b"INFO 07-31 [vllm_v1_adapter.py:929] Retrieved 256 tokens\n"
)  # LMCache 0.4.4; vLLM 0.18.0
LMCACHE_PROCESSES = (
    b"[2026-08-26 15:06:16,851] LMCache INFO: Stored 2048 tokens in 0.848 seconds\n"
    b"[2026-08-26 15:06:15,795] LMCache INFO: Retrieved 768 tokens in 0.013 seconds (transfer.py:530)\n"
)  # LMCache#3968
LMCACHE_INTENTIONS = (
    b"LMCache INFO: Storing KV cache for 512 out of 512 tokens (skip_leading_tokens=0) for request chatcmpl\n"
    b"LMCache INFO: Reqid: cmpl-6, Total tokens 32, LMCache hit tokens: 24, need to load: 8\n"
)  # LMCache#972, LMCache#3110

SERVE = b"""\
Maximum request concurrency: 200
\r  0%|          | 0/1000 [00:00<?, ?it/s]\r100%|##########| 1000/1000 [00:23<00:00, 42.15it/s]
============ Serving Benchmark Result ============
Successful requests:                     1000\x20\x20\x20\x20\x20\x20
Failed requests:                         0\x20\x20\x20\x20\x20\x20\x20\x20\x20
Benchmark duration (s):                  23.73\x20\x20\x20\x20\x20
Total input tokens:                      79807\x20\x20\x20\x20\x20
Total generated tokens:                  255726\x20\x20\x20\x20
Request throughput (req/s):              42.15\x20\x20\x20\x20\x20
Total Token throughput (tok/s):          14141.12\x20\x20
---------------Time to First Token----------------
Mean TTFT (ms):                          9408.20\x20\x20\x20
P99 TTFT (ms):                           18164.16\x20\x20
==================================================
"""  # vllm#26478
SERVE_OLD = b"""\
============ Serving Benchmark Result ============
Successful requests:                     10
Benchmark duration (s):                  5.78
==================================================
"""  # benchmarks/README.md before vllm#26478
SERVE_ALL_FAILED = b"""\
============ Serving Benchmark Result ============
Successful requests:                     0
Failed requests:                         200
Maximum request concurrency:             200
Benchmark duration (s):                  12.50
Mean TTFT (ms):                          0.00
"""  # pytorch#172616; cut
SERVE_JSON = (
    b'{"date": "20260731-1", "backend": "vllm", "num_prompts": 500, "request_rate": "inf", '
    b'"duration": 65.714, "completed": 497, "failed": 3, "total_input_tokens": 2048000, '
    b'"total_output_tokens": 8000, "request_throughput": 7.5, "request_goodput": null, '
    b'"output_throughput": 121.7, "total_token_throughput": 31286.5, "itls": [[0.1, 0.2]], '
    b'"errors": ["", "x"], "mean_ttft_ms": 5027.2, "p99_ttft_ms": 6000}'
)  # the keys of vllm/benchmarks/serve.py, 0.18.0
THROUGHPUT = b"""\
Throughput: 5.02 requests/s, 1927.04 total tokens/s, 642.35 output tokens/s
Total num prompt tokens:  25600
Total num output tokens:  12800
"""  # vllm/benchmarks/throughput.py, 0.18.0
THROUGHPUT_OLD = b"Throughput: 5.02 requests/s, 1927.04 tokens/s\n"  # benchmark_throughput.py, 0.6
THROUGHPUT_JSON = b"""\
{
    "elapsed_time": 19.9,
    "num_requests": 100,
    "total_num_tokens": 38400,
    "requests_per_second": 5.02,
    "tokens_per_second": 1927.04
}"""  # vllm/benchmarks/throughput.py, 0.18.0

USAGE = b"""\
{"usage": {"prompt_tokens": 24, "prompt_tokens_details": {"audio_tokens": null, "cached_tokens": 16}}}
{"usage": {"prompt_tokens": 25, "total_tokens": 1049, "prompt_tokens_details": null}}
{"usage": {"prompt_tokens": 25, "total_tokens": 1049}}
{"usage": {"prompt_tokens": 25, "prompt_tokens_details": {"audio_tokens": null}}}
{"usage": {"prompt_tokens": 25, "prompt_tokens_details": {"cached_tokens": null}}}
{"usage": {"prompt_tokens": 25, "prompt_tokens_details": {"cached_tokens": 0}}}
{"usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 29, "cached_tokens_per_turn": []}}}
"""  # vllm-ascend#9030; vllm/entrypoints/openai/{engine,responses}/protocol.py, 0.18.0


#: What each reader knows, every form in one of its texts.
KV_CACHE_SIZE = (KV_V0, KV_V0_NPU, KV_BLOCKS, KV_TOKENS, KV_HYBRID, KV_ONE_LINE, KV_TWO_IN_A_BOOT, KV_ENGINES)
KV_CACHE_MEMORY = (MEMORY, MEMORY_NEGATIVE, MEMORY_RESERVED, MEMORY_RESERVED_ASCEND, MEMORY_ERROR, KV_ENGINES)
LMCACHE = (
    *(LMCACHE_STORED_OLD, LMCACHE_STORED, LMCACHE_STORED_GROUP, LMCACHE_RETRIEVED_OLD, LMCACHE_RETRIEVED),
    *(LMCACHE_RETRIEVED_REQUEST, LMCACHE_LAYERS, LMCACHE_PROCESSES, LMCACHE_INTENTIONS),
)
SERVES = (SERVE, SERVE_OLD, SERVE_ALL_FAILED)
THROUGHPUTS = (THROUGHPUT, THROUGHPUT_OLD)
