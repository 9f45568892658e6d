"""Building a vllm-ascend from its sources: its Python, and on hardware what CANN's compiler makes of csrc."""
