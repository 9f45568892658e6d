"""``acl.rt``: runtime functions of pyACL, passed on to libascendcl.so."""

import ctypes

_library = ctypes.CDLL("libascendcl.so")
_library.aclrtMemcpy.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
]
_library.aclrtMemcpy.restype = ctypes.c_int


def memcpy(destination: int, destination_bytes: int, source: int, source_bytes: int, kind: int) -> int:
    """Copies ``source_bytes`` from one address to another and waits for it, as ``aclrtMemcpy`` (acl_rt.h).

    ``kind`` is an ``aclrtMemcpyKind``: 0 host to host, 1 host to device, 2 device to host, 3 within devices.
    Returns 0, or the aclError; pyACL does not raise, and neither does this.
    """
    return _library.aclrtMemcpy(destination, destination_bytes, source, source_bytes, kind)
