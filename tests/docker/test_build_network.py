"""Where a build gets things from: one's own index, proxy and mirror, with their certificates; or nowhere."""

import base64
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from apt_mirror import Mirror, mirroring
from engine import NAME, Build, Engine
from index import Index, serving
from loopback import Certificate, Proxy, make_certificate, proxying

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]

ACCOUNT = "builder:a-pass.word-of-the-index"
DEVELOPERS = ["ccache", "libgtest-dev"]
#: So that no name of the other tests' images means one of these.
OTHER_NAME = {"NAME": f"{NAME}-network"}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def launchers(fetched: Path) -> dict[str, bytes]:
    """All that the launcher installs: an index with no more."""
    return {path.name: path.read_bytes() for path in (fetched / "launcher").glob("*.whl")}


@pytest.fixture
def index(launchers: dict[str, bytes], certificate: Certificate) -> Iterator[Index]:
    with serving(launchers, certificate.context) as index:
        yield index


@pytest.fixture
def guarded(launchers: dict[str, bytes], certificate: Certificate) -> Iterator[Index]:
    """An index for who has an account."""
    with serving(launchers, certificate.context, ACCOUNT) as index:
        yield index


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with proxying() as proxy:
        yield proxy


@pytest.fixture
def anew(checkout: Path) -> Callable[[], Path]:
    """Gives a checkout that no build has seen: another secret or proxy alone makes no layer anew."""

    def change() -> Path:
        with (checkout / "assay").open("a") as file:
            file.write(f"# {uuid.uuid4()}\n")
        return checkout

    return change


def launcher(
    engine: Engine, machine: str, checkout: Path, proxy: Proxy | None = None, **variables: str
) -> Build:
    """Build as far as the launcher's own packages."""
    sets = ["*.target=launcher"]
    if proxy:
        sets += [f"*.args.HTTPS_PROXY={proxy.url}", "*.args.NO_PROXY="]
    given = {
        **OTHER_NAME,
        "BASE": machine,
        "PIP_INDEX_URL": "",
        "PIP_EXTRA_INDEX_URL": "",
        "CA_CERTIFICATES": "",
        **variables,
    }
    return engine.bake("cann900-vllm018-emulated-x86_64", given, sets, checkout)


def said(build: Build, who: str) -> list[str]:
    """What a program told in the step that failed, without what BuildKit puts before a line."""
    printed = build.log.rpartition("------\n > ")[2].split("------")[0].splitlines()
    return [line[line.index(f"{who}: ") :] for line in printed if f" {who}: " in line]


def bytes_of(engine: Engine, image: str) -> Iterator[bytes]:
    """All of an image: layers, configuration and history; pieces overlap."""
    saving = subprocess.Popen(
        [engine.client, "save", image],
        env=engine.variables(),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    with saving:
        assert saving.stdout
        before = b""
        while piece := saving.stdout.read(1 << 24):
            yield before + piece
            before = piece[-256:]
    assert saving.returncode == 0


def found_in(engine: Engine, image: str, *wanted: bytes) -> set[bytes]:
    """Which of these are in the image, wherever."""
    return {one for piece in bytes_of(engine, image) for one in wanted if one in piece}


def test_an_index_of_ones_own_by_a_proxy_with_its_certificate(
    engine: Engine,
    machine: str,
    anew: Callable[[], Path],
    index: Index,
    proxy: Proxy,
    certificate: Certificate,
) -> None:
    trusted = str(certificate.file)
    build = launcher(engine, machine, anew(), proxy, PIP_INDEX_URL=index.url, CA_CERTIFICATES=trusted)
    assert build.returncode == 0, build.log
    assert index.downloads() == sorted(index.files)
    assert {*proxy.asked} == {index.url.removeprefix("https://").removesuffix("/simple")}
    certificates = certificate.file.read_bytes().splitlines()[1]
    kept = found_in(engine, build.image, proxy.url.encode(), certificates, index.url.encode())
    assert kept == {index.url.encode()}, "an argument is in the history, which has no password then"

    index.asked.clear()
    build = launcher(engine, machine, anew(), PIP_INDEX_URL=index.url)
    assert build.returncode != 0, build.log
    [line] = [line for line in said(build, "assay") if "could not" in line]
    assert line.startswith("assay: pip could not install requirements.txt: can't reach its index: SSLError(")
    assert "CERTIFICATE_VERIFY_FAILED" in line
    assert index.asked == []


def test_a_password_of_the_index_is_nowhere_in_the_image(
    engine: Engine,
    machine: str,
    anew: Callable[[], Path],
    guarded: Index,
    certificate: Certificate,
    tmp_path: Path,
) -> None:
    conf = tmp_path / "pip.conf"
    conf.write_text(f"[global]\nindex-url = {guarded.url.replace('//', f'//{ACCOUNT}@')}\n")
    build = launcher(engine, machine, anew(), PIP_CONF=str(conf), CA_CERTIFICATES=str(certificate.file))
    assert build.returncode == 0, build.log
    assert guarded.downloads() == sorted(guarded.files)
    password = ACCOUNT.partition(":")[2].encode()
    secrets = {password, base64.b64encode(ACCOUNT.encode()), b"index-url = https"}
    assert found_in(engine, build.image, *secrets, b"annotated_types") == {b"annotated_types"}


def developers_machine(
    engine: Engine, machine: str, checkout: Path, sources: Path, *sets: str, certificates: str = ""
) -> Build:
    """Build the developers' machine on the other one: two packages are missing."""
    given = {
        **OTHER_NAME,
        "BASE": machine,
        "IMAGE": "dev",
        "APT_SOURCES": str(sources),
        "CA_CERTIFICATES": certificates,
    }
    return engine.bake("machine-x86_64", given, ("*.args.NO_PROXY=", *sets), checkout)


@pytest.fixture
def mirror(tmp_path: Path, certificate: Certificate) -> Iterator[Mirror]:
    with mirroring(tmp_path / "mirror", DEVELOPERS, certificate.context) as mirror:
        yield mirror


def test_a_mirror_of_debian_by_a_proxy_with_its_certificate(
    engine: Engine,
    machine: str,
    anew: Callable[[], Path],
    mirror: Mirror,
    proxy: Proxy,
    certificate: Certificate,
    tmp_path: Path,
) -> None:
    sources = mirror.sources(tmp_path / "sources", stanzas=True)
    asked = (f"*.args.HTTPS_PROXY={proxy.url}",)
    build = developers_machine(engine, machine, anew(), sources, *asked, certificates=str(certificate.file))
    assert build.returncode == 0, build.log
    assert {f"/./{name}.deb" for name in DEVELOPERS} <= {*mirror.asked}
    assert {*proxy.asked} == {mirror.url.removeprefix("https://").strip("/")}
    host = mirror.url.encode()
    assert found_in(engine, build.image, host, proxy.url.encode(), b"Description: a stand-in") == {
        b"Description: a stand-in"
    }

    mirror.asked.clear()
    build = developers_machine(engine, machine, anew(), sources)
    assert build.returncode != 0, build.log
    [line] = [line for line in said(build, "assay") if "could not" in line]
    assert line.startswith(f"assay: apt-get could not install {' '.join(DEVELOPERS)}: ")
    assert "certificate" in line
    assert mirror.asked == []


def test_sources_a_line_each_and_plain_http(
    engine: Engine, machine: str, anew: Callable[[], Path], proxy: Proxy, tmp_path: Path
) -> None:
    asked = (f"*.args.HTTP_PROXY={proxy.url}",)
    with mirroring(tmp_path / "mirror", DEVELOPERS) as mirror:
        sources = mirror.sources(tmp_path / "sources", stanzas=False)
        build = developers_machine(engine, machine, anew(), sources, *asked)
    assert build.returncode == 0, build.log
    assert {f"/./{name}.deb" for name in DEVELOPERS} <= {*mirror.asked}
    assert {*proxy.asked} == {mirror.url.removeprefix("http://").strip("/")}


def test_without_network_a_build_says_what_it_lacks(
    engine: Engine, base: str, bake_offline: Callable[..., Build], emulated_build: Build, tmp_path: Path
) -> None:
    assert emulated_build.returncode == 0
    with_packages = bake_offline("machine-x86_64", OTHER_NAME)
    assert with_packages.returncode == 0, with_packages.log

    without_packages = bake_offline("machine-x86_64", {**OTHER_NAME, "BASE": base})
    [line] = [line for line in said(without_packages, "assay") if "could not" in line]
    assert line.startswith("assay: apt-get could not install python3.11 ")
    assert "E: Failed to fetch " in line

    without_launcher = bake_offline(
        "cann900-vllm018-emulated-x86_64", {**OTHER_NAME, "FETCHED": str(tmp_path)}
    )
    [line] = said(without_launcher, "npu-assay")
    assert line.startswith(
        "npu-assay: the folder FETCHED has no launcher/; fill it again: npu-assay env fetch"
    )
