"""Do something as a user who is not root, which tests often are."""

import json
import os
from collections.abc import Callable
from typing import Any

NOBODY = 65534


def as_another_user(do: Callable[[], Any]) -> Any:
    """What `do` returns (JSON) for nobody; in a child process, which can't become root again."""
    if os.geteuid() != 0:
        return do()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, json.dumps(do()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return json.loads(pipe.read())
