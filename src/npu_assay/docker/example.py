"""docker/compose.yaml: what `npu-assay docker compose` says on a host with two 910B3.

`python -m npu_assay.docker.example` writes it again.
"""

from npu_assay.device.needs import NEEDS
from npu_assay.docker.command_line import folder_commands
from npu_assay.docker.compose import compose_file
from npu_assay.docker.dies import ChosenDies
from npu_assay.docker.host_files import HostFiles
from npu_assay.docker.making import HostDies, Wish
from npu_assay.docker.services import folders_of, services_of
from npu_assay.project import ROOT

PATH = ROOT / "docker" / "compose.yaml"
_DRIVER = "/usr/local/Ascend/driver"
_HEAD = """\
For a host with two NPUs (910B3), a service each. Written by ci/compose for a made-up host that has all that a
container needs; not seen on a real one. `npu-assay docker compose IMAGE` writes it for yours, whose user,
group, driver and dies differ. These folders have to be there before:"""


EXAMPLE_HOST = HostDies(
    HostFiles(
        driver=_DRIVER,
        there=frozenset(need.target(_DRIVER) for need in NEEDS if need.applies("910b", 2)),
        dies=(0, 1),
        groups=(1001,),
    ),
    ChosenDies("910b", (0, 1)),
)
EXAMPLE_WISH = Wish(
    image="npu-assay:cann900-vllm018-run-packages-aarch64",
    arguments=("run", "--device", "npu", "--model", "/data/models/Qwen2.5-1.5B-Instruct"),
    runs="/srv/npu-assay/runs",
    cache=None,
    model="/data/models/Qwen2.5-1.5B-Instruct",
    locks="/var/lock/npu-assay",
    user_id=1000,
    group_id=1000,
)


def example() -> str:
    """The text of docker/compose.yaml."""
    services = services_of(EXAMPLE_WISH, EXAMPLE_HOST, together=False)
    folders = folder_commands(folders_of(services.values()), EXAMPLE_WISH.locks)
    return compose_file(services, "\n".join((_HEAD, *folders)))


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(example())
