"""Properties of every parser of version files, whatever the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from version_file_parsers import PARSERS, Parser

from npu_assay.cann.files.install_info import parse_toolkit_install_info
from npu_assay.cann.files.keyed import MalformedFileError
from npu_assay.cann.versions import ReleaseVersion

each_parser = pytest.mark.parametrize(("name", "parse", "seeds"), PARSERS)
FRAGMENTS = st.sampled_from(
    ["=", ":", "[", "]", ",", "\n", "\r\n", "\r", "#", "B1", "1.0", ".", "\0", "\u2028", " "]
)

numbers = st.integers(0, 10**6).map(str)
parts = st.one_of(numbers, st.builds("{}{}".format, st.sampled_from(["rc", "RC", "alpha", "beta"]), numbers))
versions = st.builds(
    lambda first, rest: ".".join([first, *rest]), numbers, st.lists(parts, min_size=1, max_size=4)
)
words = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=12)


def outcome(parse: Parser, text: str) -> object:
    """What the parser makes of the text; a refusal is an outcome, anything else is an error of ours."""
    try:
        return parse(text, "f")
    except MalformedFileError as error:
        return type(error)


@each_parser
@given(data=st.data())
def test_nothing_but_the_documented_error_comes_out(
    name: str, parse: Parser, seeds: tuple[str, ...], data: st.DataObject
) -> None:
    outcome(parse, data.draw(st.text()))
    seed = data.draw(st.sampled_from(seeds))
    start = data.draw(st.integers(0, len(seed)))
    end = data.draw(st.integers(start, len(seed)))
    put = data.draw(st.one_of(FRAGMENTS, st.text(max_size=5)))
    outcome(parse, seed[:start] + put + seed[end:])


@each_parser
@given(data=st.data())
def test_the_order_of_lines_and_their_ends_change_nothing(
    name: str, parse: Parser, seeds: tuple[str, ...], data: st.DataObject
) -> None:
    seed = data.draw(st.sampled_from(seeds))
    lines = data.draw(st.permutations(seed.splitlines()))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    assert parse(end.join(lines) + data.draw(st.sampled_from(["", end])), "f") == parse(seed, "f")


@each_parser
@given(data=st.data())
def test_a_changed_value_is_never_read_as_if_it_were_the_old_one(
    name: str, parse: Parser, seeds: tuple[str, ...], data: st.DataObject
) -> None:
    """A line that counted and is gone gives another value or a refusal, never the same value again."""
    seed = data.draw(st.sampled_from(seeds))
    lines = seed.splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    without = "\n".join(lines[:number] + lines[number + 1 :])
    key = lines[number].strip().partition("=")[0]
    if key in ("UserName", "ascendhal_version", "firmware_version") or key.startswith(
        ("#", "Ascend-cann-atb :")
    ):
        assert parse(without, "f") == parse(seed, "f"), "a line that nobody reads"
    else:
        assert outcome(parse, without) != parse(seed, "f")


@each_parser
@given(data=st.data())
def test_a_key_that_stands_twice_is_refused(
    name: str, parse: Parser, seeds: tuple[str, ...], data: st.DataObject
) -> None:
    seed = data.draw(st.sampled_from(seeds))
    line = data.draw(st.sampled_from([line for line in seed.splitlines() if not line.startswith("#")]))
    assert outcome(parse, f"{seed}{line}\n") is MalformedFileError


@given(
    version=versions,
    innerversion=words,
    arch=words,
    path=words,
    compatible=st.lists(words, min_size=1),
    data=st.data(),
)
def test_what_is_written_is_what_is_read(
    version: str, innerversion: str, arch: str, path: str, compatible: list[str], data: st.DataObject
) -> None:
    lines = [
        "package_name=Ascend-cann-toolkit",
        f"version={version}",
        f"innerversion={innerversion}",
        f"arch={arch}",
        f"path=/{path}",
        f"compatible_version={','.join(f'[{one}]' for one in compatible)}",
    ]
    info = parse_toolkit_install_info("\n".join(data.draw(st.permutations(lines))), "f")
    assert (info.version, info.innerversion, info.arch) == (version, innerversion, arch)
    assert (info.path, info.compatible_version, info.os) == (f"/{path}", tuple(compatible), None)


@given(one=versions, other=versions, third=versions)
def test_versions_are_in_one_order(one: str, other: str, third: str) -> None:
    a, b, c = map(ReleaseVersion.parse, (one, other, third))
    assert (a < b) + (a == b) + (b < a) == 1
    assert (a < c) or not (a < b and b < c)
    assert a == ReleaseVersion.parse(one.upper()) == ReleaseVersion.parse(f"{one}+emulated")
    assert a != b or hash(a) == hash(b)


@given(text=st.text())
def test_a_text_is_a_version_or_refused(text: str) -> None:
    try:
        version = ReleaseVersion.parse(text)
    except ValueError:
        return
    assert version.text == text
