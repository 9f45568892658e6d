"""SOURCE: what is which kind, and one line for each bad form."""

import pytest
from planted_source import SDIST, WHEEL, checkout, plant, sdist, wheel

from npu_assay.errors import UsageError
from npu_assay.source.location import Folder, GitRef, Sdist, Url, Wheel, parse_location


def test_folders_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plant(tmp_path / "tree"), sdist(tmp_path / SDIST), wheel(tmp_path / WHEEL)
    assert parse_location("tree") == Folder(tmp_path / "tree")
    assert parse_location(SDIST) == Sdist(tmp_path / SDIST)
    assert parse_location(str(tmp_path / WHEEL)) == Wheel(tmp_path / WHEEL)


@pytest.mark.parametrize(
    ("text", "public", "ref"),
    [
        ("git+https://h/x.git@main", "https://h/x.git", "main"),
        ("git+https://h:8443/x@feature/y", "https://h:8443/x", "feature/y"),
        ("git+https://me:secret@h/x@v1", "https://h/x", "v1"),
        ("git+https://token@h/x@v1", "https://h/x", "v1"),
        ("git+https://h/x?private_token=secret@v1", "https://h/x", "v1"),
        ("git+ssh://git@h/x.git@main", "ssh://git@h/x.git", "main"),
        ("git+ssh://git:secret@h/x.git@main", "ssh://git@h/x.git", "main"),
        ("git+file:///a@b/x.git@main", "file:///a@b/x.git", "main"),
    ],
)
def test_git_without_credentials_in_any_text(text, public, ref):
    found = parse_location(text)
    private = text.removeprefix("git+").rpartition("@")[0]
    assert found == GitRef(Url(public, private), ref)
    assert str(found) == f"git+{public}@{ref}"
    assert "secret" not in str(found)
    assert "token" not in str(found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "--vllm-ascend '': expected a folder, git+URL@REF"),
        ("nowhere", "nowhere: no such folder or file; expected a folder, git+URL@REF, a source dist"),
        ("file.txt", "file.txt: expected a folder, git+URL@REF"),
        ("other-1.0-py3-none-any.whl", "a wheel of other, expected one of vllm-ascend"),
        ("bad.whl", "no name of a wheel"),
        ("https://h/x", "git+https://h/x@REF names a branch, tag or commit"),
        ("https://me:secret@h/x", "--vllm-ascend https://h/x: git+https://h/x@REF"),
        ("git+https://h/x", "expected git+URL@REF, such as git+https://HOST/NAME.git@main"),
        ("git+https://me:secret@h/x", "git+https://h/x: "),
        ("git+git@github.com:o/n@main", "expected git+URL@REF"),
        ("git+https://h/x@", "'' is no name of a branch, tag or commit"),
        ("git+https://h/x@-x", "'-x' is no name"),
        ("git+https://h/x@a..b", "'a..b' is no name"),
        ("git+https://h/x@v1#subdirectory=a", "is no name"),
        ("git+ext::sh -c x://h/x@v1", "expected one of https://, http://, ssh://, git://, file://"),
        ("git+file://host/x@v1", "expected file:///PATH"),
        ("git+https:///x@v1", "no host in it"),
        ("git+https://h/x?token=secret", "--vllm-ascend git+https://h/x: expected git+URL@REF"),
        ("git+https://h/x@v1?token=secret", "'v1' is no name"),
    ],
)
def test_what_is_no_source_is_one_line_without_credentials(tmp_path, monkeypatch, text, says):
    monkeypatch.chdir(checkout(tmp_path / "tree"))
    assert parse_location(".")
    for name in ("file.txt", "other-1.0-py3-none-any.whl", "bad.whl"):
        (tmp_path / "tree" / name).touch()
    with pytest.raises(UsageError) as error:
        parse_location(text)
    assert says in str(error.value)
    assert str(error.value).startswith("--vllm-ascend ")
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)
