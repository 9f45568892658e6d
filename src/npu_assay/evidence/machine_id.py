"""Which machine a run was on, without saying it to others.

machine-id(5) asks that the id in /etc/machine-id leave the machine only as a keyed hash, and names
sd_id128_get_machine_app_specific(3): HMAC-SHA256 with the machine's id as the key over an id of the
application, its first 16 bytes made into a UUID of version 4 (RFC 9562). Containers made from an image that
has the file have that image's id.
"""

import hashlib
import hmac
import re
from pathlib import Path

#: Of npu-assay; drawn once at random (systemd-id128 new). Another one would make every host a new one.
_APPLICATION = bytes.fromhex("c1b6f5c0a0c94c1f8f5d2a7e3b90d846")
_MACHINE_ID = re.compile(r"[0-9a-f]{32}\n?")


def machine_id(file: Path = Path("/etc/machine-id")) -> str | None:
    """32 hex digits; None where the file is missing, empty or `uninitialized`, as in a container."""
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError):
        return None
    if not _MACHINE_ID.fullmatch(text) or not int(text, 16):
        return None
    digest = bytearray(hmac.digest(bytes.fromhex(text), _APPLICATION, hashlib.sha256)[:16])
    digest[6] = digest[6] & 0x0F | 0x40
    digest[8] = digest[8] & 0x3F | 0x80
    return digest.hex()
