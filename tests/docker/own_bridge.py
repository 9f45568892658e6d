"""A bridge for the daemon of the tests, which no container uses.

A dockerd that is to have none (--bridge=none) deletes docker0, whichever daemon of the machine has made that,
and so cuts off that one's containers (removeDefaultBridgeInterface in moby's daemon/daemon_unix.go). So it is
given one. ioctl(2) makes it, as not every machine has ip(8).
"""

import fcntl
import socket
import struct
from contextlib import suppress

#: Of linux/sockios.h.
_BRIDGE_ADD, _BRIDGE_DELETE, _SET_FLAGS, _SET_ADDRESS, _SET_NETMASK = 0x89A0, 0x89A1, 0x8914, 0x8916, 0x891C
#: For documentation (RFC 5737), so that nobody's network is behind it.
_ADDRESS, _NETMASK = "198.51.100.1", "255.255.255.240"


def add_bridge(name: str) -> None:
    """Make it, with an address, which dockerd takes then."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _BRIDGE_ADD, name.encode() + b"\0")
        for request, address in ((_SET_ADDRESS, _ADDRESS), (_SET_NETMASK, _NETMASK)):
            found = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(any_socket, request, struct.pack("16s16s", name.encode(), found))


def remove_bridge(name: str) -> None:
    """Remove it, if it is there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket, suppress(OSError):
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", name.encode(), 0))  # down
        fcntl.ioctl(any_socket, _BRIDGE_DELETE, name.encode() + b"\0")
