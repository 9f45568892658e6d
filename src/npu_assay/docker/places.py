"""Where a container has what it is given of the caller's own; the image's entry point knows them too."""

#: The working folder: `run` leaves its archive in `runs/<time>-<pipeline>` of it.
WORK = "/npu-assay"
RUNS = f"{WORK}/runs"
#: The image's cache, which has the environment, and what of it a run with a vllm-ascend of its own writes to.
CACHE = "/opt/npu-assay/cache"
WRITTEN = ("builds", "native", "repositories", "trees")
#: The chip as `ops_chip` calls it: which needs the entry point checks.
CHIP_VARIABLE = "NPU_ASSAY_CHIP"
#: Compilers, Triton and the home of a user without one write here; the root is read-only.
SCRATCH = "/tmp"
