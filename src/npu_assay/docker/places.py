"""Where a container has what it is given of the caller's own; the image's entry point knows them too."""

#: The working folder: `run` leaves its archive in `runs/<time>-<pipeline>` of it.
WORK = "/npu-assay"
RUNS = f"{WORK}/runs"
#: What a run keeps for the next one: sources, builds. The environment is the image's.
CACHE = f"{WORK}/cache"
#: Compilers, Triton and the home of a user without one write here; the root is read-only.
SCRATCH = "/tmp"
