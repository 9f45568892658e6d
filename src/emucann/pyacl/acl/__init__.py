"""The part of pyACL, CANN's Python module, that torch-npu and vllm-ascend import.

vllm-ascend 0.18.0 imports ``acl.rt.memcpy`` (device_allocator/camem.py, for sleep mode); torch-npu 2.9.0
imports nothing of it.
"""

from acl import rt

__all__ = ["rt"]
