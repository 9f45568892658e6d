"""The id of a host: stable, and not its machine id."""

import shutil
import subprocess

import pytest

from npu_assay.evidence import machine_id as module
from npu_assay.evidence.machine_id import machine_id

ID = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    "text", ["", "uninitialized\n", ID.upper() + "\n", ID[:-1] + "\n", "0" * 32 + "\n", ID + "\n\n", "\xff"]
)
def test_a_machine_id_gives_a_uuid_of_version_4_and_anything_else_none(tmp_path, text):
    file = tmp_path / "machine-id"
    assert machine_id(file) is None
    file.write_text(ID + "\n")
    assert machine_id(file) == machine_id(file) != ID
    assert (machine_id(file)[12], machine_id(file)[16] in "89ab") == ("4", True)
    file.write_text(ID[::-1] + "\n")
    assert machine_id(file) not in (None, ID)
    file.write_bytes(text.encode("latin-1"))
    assert machine_id(file) is None


@pytest.mark.skipif(shutil.which("systemd-id128") is None, reason="systemd's own tool is the second opinion")
def test_it_is_what_systemd_makes_of_the_same_id():
    command = ["systemd-id128", "machine-id", "--app-specific", module._APPLICATION.hex()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert machine_id() == (done.stdout.strip() if done.returncode == 0 else None)
