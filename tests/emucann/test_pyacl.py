"""The Python module acl, over a libascendcl.so of this test's own."""

import subprocess
import sys
from pathlib import Path

PYACL = Path(__file__).parents[2] / "src" / "emucann" / "pyacl"

LIBRARY = """
    #include <string.h>
    int aclrtMemcpy(void* to, size_t room, const void* from, size_t bytes, int kind) {
      if (bytes > room) return 100000;
      memcpy(to, from, bytes);
      return kind == 2 ? 0 : -1;
    }
"""
# Addresses above 4 GiB, as real ones are: ctypes would cut them to an int if the types were not declared.
PROGRAM = """
import ctypes
from acl.rt import memcpy
source, target = ctypes.create_string_buffer(b"bytes"), ctypes.create_string_buffer(6)
print(memcpy(ctypes.addressof(target), 6, ctypes.addressof(source), 6, 2), target.value.decode())
print(memcpy(ctypes.addressof(target), 5, ctypes.addressof(source), 6, 2))
"""


def test_memcpy_copies_and_returns_the_error(tmp_path: Path) -> None:
    command = ["cc", "-shared", "-fPIC", "-o", str(tmp_path / "libascendcl.so"), "-x", "c", "-"]
    subprocess.run(command, input=LIBRARY, text=True, check=True)
    environment = {"LD_LIBRARY_PATH": str(tmp_path), "PYTHONPATH": str(PYACL)}
    result = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert result.stderr == ""
    assert result.stdout.splitlines() == ["0 bytes", "100000"]
