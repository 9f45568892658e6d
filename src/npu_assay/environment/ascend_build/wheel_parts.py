"""The compiled parts of the vllm-ascend that is installed from its wheel."""

import base64

from npu_assay.environment.ascend_binding import rebuilt_note
from npu_assay.environment.ascend_build.overlay import dist_info
from npu_assay.environment.environment import Environment
from npu_assay.environment.record import parse_record
from npu_assay.source.listing import Listing
from npu_assay.source.native import is_compiled


def installed_parts(environment: Environment) -> Listing:
    """Those of the installed package, by its RECORD; a module that was rebuilt for its torch among them."""
    record = dist_info(environment.site_packages) / "RECORD"
    rows = parse_record(record.read_text(), str(record))
    return Listing(
        {
            row.path: base64.urlsafe_b64decode(f"{row.sha256}=").hex()
            for row in rows
            if row.sha256 is not None and is_compiled(row.path)
        }
    )


def wheels_parts(environment: Environment) -> Listing:
    """The same, with the wheel's own module in place of one that was rebuilt."""
    note = rebuilt_note(environment.site_packages)
    files = dict(installed_parts(environment).files)
    return Listing(files | ({note.library: note.wheel_sha256} if note else {}))
