"""What a container gets of a host: planted hosts of every kind, and what each may lack."""

import subprocess
from dataclasses import replace

import pytest
from npu_smi_texts import process
from planted_container_host import DRIVER, FILES, MANAGERS, a2, a3, c950, p310, plant_answers, plant_host

from npu_assay.device.host import join
from npu_assay.device.stored import read_answers
from npu_assay.docker.command_line import options_of, shell_command, words_of
from npu_assay.docker.dies import choose_dies
from npu_assay.docker.host_files import read_host_files
from npu_assay.docker.making import HostDies, Wish, recipe_of
from npu_assay.errors import UnusableError, UsageError

WISH = Wish(
    image="image:tag",
    arguments=("run", "--model", "/models/a b"),
    runs="/home/u/runs",
    cache=None,
    model="/models/a b",
    locks="/var/lock/npu-assay",
    user_id=1000,
    group_id=1000,
)
NEW = {"managers": ("davinci_manager", "hisi_hdc", "ummu", "uburma"), "files": FILES}
ANONYMOUS = [f"/opt/npu-assay/cache/{name}" for name in ("builds", "native", "repositories", "trees")]
SEVERAL = (*FILES, f"{DRIVER}/tools/hccn_tool", "etc/hccn.conf")


@pytest.fixture
def npus_of(tmp_path):
    """Plants a host, asks its stored npu-smi, and chooses dies."""

    def make(answers, dies, *, count=1, variables=None, **planted) -> HostDies:
        root = plant_host(tmp_path / "root", dies, **planted)
        host = join(read_answers([plant_answers(tmp_path / "said", answers)]))
        files = read_host_files(root)
        return HostDies(files, choose_dies(host, files.dies, count, variables or {}))

    return make


def given(recipe, option: str) -> list[str]:
    return [one.words[1] for one in options_of(recipe) if one.words[0] == option]


@pytest.mark.parametrize(
    ("answers", "dies", "count", "planted", "nodes", "visible"),
    [
        (a2(), (0, 1), 1, {}, ["davinci0", *MANAGERS], "0"),
        (a2(), (2, 7), 2, {}, ["davinci2", "davinci7", *MANAGERS], "0,1"),
        (a3(), range(4), 1, {}, ["davinci0", *MANAGERS], "0"),
        (a3(), range(4), 3, {}, ["davinci0", "davinci1", "davinci2", *MANAGERS], "0,1,2"),
        (p310(), (0, 1), 2, {}, ["davinci0", "davinci1", *MANAGERS], "0,1"),
        (c950(), (4, 6), 1, NEW, ["davinci4", "davinci_manager", "hisi_hdc", "ummu", "uburma"], None),
        (
            c950(),
            (4, 6),
            2,
            {"managers": ("davinci_manager", "hisi_hdc")},
            ["davinci4", "davinci6", "davinci_manager", "hisi_hdc"],
            None,
        ),
    ],
    ids=["910B", "two of 910B", "a die of A3", "three of A3", "310P", "950", "950 without its bus"],
)
def test_a_container_gets_its_dies_and_their_managers(npus_of, answers, dies, count, planted, nodes, visible):
    recipe = recipe_of(WISH, npus_of(answers, dies, count=count, **planted))
    assert recipe.missing == ()
    assert given(recipe, "--device") == [f"/dev/{name}" for name in nodes]
    variables = {one.name: one.value for one in recipe.variables}
    assert variables.get("ASCEND_RT_VISIBLE_DEVICES") == visible


@pytest.mark.parametrize(
    ("answers", "dies", "count", "planted", "mounts"),
    [
        (a2(), (0, 1), 1, {"files": SEVERAL}, ["driver/lib64", "driver/version.info"]),
        (
            a2(),
            (0, 1),
            2,
            {"files": SEVERAL},
            ["driver/lib64", "driver/version.info", "driver/tools/hccn_tool", "/etc/hccn.conf"],
        ),
        (a2(), (0, 1), 2, {}, ["driver/lib64", "driver/version.info"]),
        (c950(), (4, 6), 1, NEW, ["driver"]),
    ],
    ids=["one die", "two dies", "two dies without the tool", "950"],
)
def test_driver_and_tools_are_given_to_look_at(npus_of, answers, dies, count, planted, mounts):
    recipe = recipe_of(WISH, npus_of(answers, dies, count=count, **planted))
    always = ["/usr/local/dcmi", "/usr/local/bin/npu-smi", "/etc/ascend_install.info"]
    wanted = [one if one.startswith("/") else f"/usr/local/Ascend/{one}" for one in mounts] + always
    read_only = [mount for mount in recipe.mounts if mount.read_only]
    assert sorted(mount.target for mount in read_only) == sorted([*wanted, "/models/a b"])
    assert all(mount.source == mount.target for mount in read_only)
    assert given(recipe, "-v")[-6:] == [
        "/home/u/runs:/npu-assay/runs",
        *ANONYMOUS,
        "/var/lock/npu-assay:/var/lock/npu-assay",
    ]
    assert recipe.folders == ("/home/u/runs", "/var/lock/npu-assay")


def test_what_is_built_is_kept_where_that_is_asked_for():
    recipe = recipe_of(replace(WISH, cache="/home/u/cache"), None)
    kept = [f"/home/u/cache/{one.rpartition('/')[2]}:{one}" for one in ANONYMOUS]
    assert given(recipe, "-v")[-4:] == kept
    assert recipe.folders == ("/home/u/runs", *(one.partition(":")[0] for one in kept))


def test_npu_smi_of_another_folder_comes_to_the_usual_one(npus_of):
    files = tuple(name.replace("local/bin", "local/sbin") for name in FILES)
    recipe = recipe_of(WISH, npus_of(a2(), (0, 1), files=files))
    assert recipe.missing == ()
    assert "/usr/local/sbin/npu-smi:/usr/local/bin/npu-smi:ro" in given(recipe, "-v")


@pytest.mark.parametrize(
    ("without", "option"),
    [
        ("dev/davinci_manager", "--device /dev/davinci_manager"),
        ("dev/devmm_svm", "--device /dev/devmm_svm"),
        ("dev/hisi_hdc", "--device /dev/hisi_hdc"),
        (FILES[0], f"-v /{DRIVER}/lib64:/{DRIVER}/lib64:ro"),
        (FILES[1], f"-v /{DRIVER}/version.info:/{DRIVER}/version.info:ro"),
        (FILES[2], "-v /usr/local/dcmi:/usr/local/dcmi:ro"),
        (FILES[3], "-v /usr/local/bin/npu-smi:/usr/local/bin/npu-smi:ro"),
        (FILES[4], "-v /etc/ascend_install.info:/etc/ascend_install.info:ro"),
    ],
)
def test_what_a_host_lacks_is_said_and_the_command_is_whole(npus_of, tmp_path, without, option):
    assert recipe_of(WISH, npus_of(a2(), (0, 1))).missing == ()
    for path in sorted((tmp_path / "root").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    recipe = recipe_of(WISH, npus_of(a2(), (0, 1), without=(without,)))
    (line,) = recipe.missing
    assert line.endswith(f": docker run needs {option}")
    assert option in shell_command(recipe).replace(" \\\n ", "")


def test_a_die_that_somebody_uses_is_not_given(npus_of):
    answers = a2((0, 3), busy={0: process(0, 4711)})
    assert npus_of(answers, (0, 1)).chosen.nodes == (1,)
    assert npus_of(answers, (0, 1), count=None).chosen.nodes == (1,)
    with pytest.raises(UnusableError, match=r"2 free dies wanted for the container, 1 found: NPU 0 .* 4711"):
        npus_of(answers, (0, 1), count=2)


def test_the_callers_variable_chooses_among_the_dies_and_is_numbered_again(npus_of):
    npus = npus_of(a2(), (0, 1), variables={"ASCEND_RT_VISIBLE_DEVICES": "1"})
    assert (npus.chosen.nodes, npus.chosen.visible_devices) == ((1,), "0")


def test_a_die_whose_node_is_not_known_is_not_guessed(npus_of):
    assert npus_of(a2(), (0, 1)).chosen.nodes == (0,)
    with pytest.raises(UnusableError, match="which /dev/davinciN it is can't be told"):
        npus_of(a2(), (0, 1, 5))


def test_an_npu_whose_name_tells_nothing_gets_what_an_a2_needs_and_a_note(npus_of):
    known = npus_of(a2(), (0, 1))
    assert recipe_of(WISH, known).notes == ()
    answers = {name: text.replace("910B3", "999X9") for name, text in a2().items()}
    recipe = recipe_of(WISH, npus_of(answers, (0, 1)))
    assert given(recipe, "-v") == given(recipe_of(WISH, known), "-v")
    assert recipe.notes == (
        "which NPU this is can't be told by its name; the container gets what an A2 needs",
    )


def test_the_group_of_closed_nodes_is_the_users_too(npus_of, tmp_path):
    npus = npus_of(a2(), (0, 1))
    group = (tmp_path / "root/dev/davinci0").stat().st_gid
    assert npus.files.groups == (group,)
    assert given(recipe_of(replace(WISH, group_id=group + 1), npus), "--group-add") == [str(group)]
    assert given(recipe_of(replace(WISH, group_id=group), npus), "--group-add") == []
    for node in (tmp_path / "root/dev").iterdir():
        node.chmod(0o666)
    assert read_host_files(tmp_path / "root").groups == ()


def test_an_emulated_container_gets_nothing_of_the_host():
    recipe = recipe_of(WISH, None)
    assert given(recipe, "--device") == given(recipe, "--group-add") == []
    assert given(recipe, "--env") == ["NPU_ASSAY_IMAGE=image:tag"]
    assert given(recipe, "-v") == [
        "/models/a b:/models/a b:ro",
        "/home/u/runs:/npu-assay/runs",
        *ANONYMOUS,
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["--rm"],
        ["--init"],
        ["--user", "1000:1000"],
        ["--shm-size", "16g"],
        ["--network", "none"],
        ["--read-only"],
        ["--tmpfs", "/tmp:rw,exec,nosuid,nodev,mode=1777"],
        ["--workdir", "/npu-assay"],
    ],
)
def test_every_container_is_closed_but_for_its_mounts(words):
    assert words in [list(one.words) for one in options_of(recipe_of(WISH, None))]


def test_the_printed_command_is_the_one_that_is_run():
    """A shell splits it into the same words, whatever is in them."""
    wish = replace(WISH, arguments=("sh", "-c", "echo '$HOME' \"a  b\" \\"), model="/models/it's $HOME")
    recipe = recipe_of(wish, None)
    text = shell_command(recipe)
    script = f"""docker() {{ printf '%s\\n' "$@"; }}\n{text}"""
    said = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == words_of(recipe)[1:]


def test_a_path_with_a_colon_is_refused():
    recipe_of(WISH, None)
    with pytest.raises(UsageError, match="/a:b: docker's -v takes absolute paths without a colon"):
        recipe_of(replace(WISH, runs="/a:b"), None)
