"""git repositories: bare clones in the cache, and exporting a commit from one.

Files are the blobs of the commit, so attributes, filters and line endings change nothing. What was fetched
once is not asked for again where it is a full commit id; a branch or tag is, because it may have moved.
"""

import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urljoin, urlsplit

from npu_assay.cache import content_key, folder_lock, make_folder, writing
from npu_assay.errors import UnusableError, UsageError
from npu_assay.printable import printable
from npu_assay.source.git import GitError, git
from npu_assay.source.location import GitRef, Url, parse_url
from npu_assay.source.origin import Origin
from npu_assay.source.working_tree import nearest_tag
from npu_assay.source.writer import TreeWriter

Report = Callable[[str], None]

FOLDER = "repositories"

#: A commit's id, or the beginning of one.
_ID = re.compile(r"[0-9a-f]{4,64}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
#: Of everything that a repository offers under its own names; and where else a commit or ref is kept.
_EVERYTHING = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_KEPT = "refs/kept"
_FETCH_SECONDS = 1800.0
#: A submodule is worth waiting for less: on the emulator nothing needs it.
_SUBMODULE_SECONDS = 120.0


@dataclass(frozen=True)
class _Entry:
    """A file, link or submodule of a commit."""

    mode: str
    sha: str
    name: str


class Repository:
    """The bare clone of one address."""

    def __init__(self, cache: Path, url: Url) -> None:
        self.url = url
        self.folder = cache / FOLDER / f"{content_key([url.public])}.git"

    @contextmanager
    def held(self, report: Report) -> Iterator[None]:
        """Nobody else fetches into it, or removes it, meanwhile.

        One that is there may be read without a lock where its cache can't be written to: nobody can, then.
        """
        waiting = f"waiting for another npu-assay that fetches {self.url}"
        make_folder(self.folder, self._init, lambda: report(waiting))
        with ExitStack() as stack:
            try:
                stack.enter_context(folder_lock(self.folder, lambda: report(waiting)))
            except UnusableError:
                if os.access(self.folder, os.W_OK):
                    raise
            stack.enter_context(writing(self.folder))
            yield

    def commit_of(self, ref: str) -> str | None:
        """The commit that a name or id means among what was fetched; None for none."""
        names = [f"refs/heads/{ref}", f"refs/tags/{ref}", f"{_KEPT}/{ref}", *[ref] * bool(_ID.fullmatch(ref))]
        return next((commit for name in names if (commit := self._commit_at(name))), None)

    def fetch(self, ref: str, seconds: float) -> None:
        """Fetch all branches and tags, and the ref where it is none of these. Raises GitError."""
        self._fetch_refs(_EVERYTHING, seconds)
        if self._commit_at(f"refs/heads/{ref}") or self._commit_at(f"refs/tags/{ref}"):
            return
        if not _ID.fullmatch(ref) or self.commit_of(ref) is None:
            wanted = f"refs/{ref}" if ref.startswith("pull/") else ref
            self._fetch_refs((f"+{wanted}:{_KEPT}/{ref}",), seconds)

    def fetch_commit(self, commit: str, seconds: float) -> None:
        """Fetch one commit without its history. Raises GitError."""
        self._fetch_refs(("--depth=1", f"+{commit}:{_KEPT}/{commit}"), seconds)

    def take_from(self, folder: Path) -> None:
        """Take everything that another clone of the same address has. Raises GitError."""
        self._git("fetch", "--quiet", "--no-tags", "--update-shallow", "--", str(folder), "+refs/*:refs/*")

    def entries(self, commit: str) -> list[_Entry]:
        """All files, links and submodules of a commit."""
        found = []
        for row in self._git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            facts, tab, name = row.partition(b"\t")
            if tab:
                mode, _, sha = facts.decode().split()
                found.append(_Entry(mode, sha, os.fsdecode(name)))
        return found

    def contents(self, entries: list[_Entry]) -> Iterator[bytes]:
        """The bytes of blobs, in order. Raises GitError for one that was not fetched."""
        asked = b"".join(entry.sha.encode() + b"\n" for entry in entries)
        answers = io.BytesIO(self._git("cat-file", "--batch", stdin=asked))
        for entry in entries:
            header = answers.readline().split()
            if len(header) != 3 or header[1] != b"blob":
                raise GitError(f"{entry.name}: blob {entry.sha} is not there")
            yield answers.read(int(header[2]))
            answers.read(1)

    def submodule_urls(self, commit: str) -> dict[str, str]:
        """Path -> address, as .gitmodules of a commit has them."""
        try:
            said = self._git("config", "-z", f"--blob={commit}:.gitmodules", "--get-regexp", r"^submodule\.")
        except GitError:
            return {}
        values = {}
        for row in said.decode(errors="replace").split("\0"):
            key, _, value = row.partition("\n")
            values[key] = value
        return {
            path: values.get(f"{key.removesuffix('.path')}.url", "")
            for key, path in values.items()
            if key.endswith(".path")
        }

    def _commit_at(self, name: str) -> str | None:
        try:
            found = self._git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
        except GitError:
            return None
        return found.decode().strip()

    def _init(self, folder: Path) -> Mapping[str, object]:
        try:
            git(["init", "--quiet", "--bare", "--template=", "."], folder=folder)
        except GitError as error:
            raise UsageError(f"{folder}: git can't make a repository here: {error}") from error
        return {"url": self.url.public}

    def _fetch_refs(self, refs: tuple[str, ...], seconds: float) -> None:
        options = [ref for ref in refs if ref.startswith("--")]
        wanted = [ref for ref in refs if not ref.startswith("--")]
        git(
            [
                *(
                    "-c",
                    "http.lowSpeedLimit=1000",
                    "-c",
                    "http.lowSpeedTime=30",
                    "-c",
                    "protocol.ext.allow=never",
                ),
                *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--force", "--prune", *options),
                *("--", self.url.public, *wanted),
            ],
            folder=self.folder,
            variables=_credentials(self.url),
            timeout=seconds,
        )

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return git(arguments, folder=self.folder, stdin=stdin)


def export_ref(ref: GitRef, into: Path, cache: Path, report: Report) -> Origin:
    """Write the files of a branch, tag or commit into `into`, a new folder; fetches what is not there.

    Raises UsageError for a repository that can't be reached and a ref that it does not have.
    """
    repository = Repository(cache, ref.url)
    with repository.held(report):
        commit, notes = _commit(repository, ref, report)
        try:
            notes += _write(repository, commit, TreeWriter(into, str(ref)), cache, report)
        except GitError as error:
            raise UsageError(
                f"--vllm-ascend {ref}: {error}; remove {repository.folder} and try again"
            ) from error
        tag = nearest_tag(repository.folder, commit)
    return Origin(kind="git", given=str(ref), commit=commit, dirty=False, tag=tag, notes=tuple(notes))


def _commit(repository: Repository, ref: GitRef, report: Report) -> tuple[str, list[str]]:
    """The commit that the ref means now, and notes."""
    known = repository.commit_of(ref.ref)
    if known is not None and _COMMIT.fullmatch(ref.ref):
        return known, []
    report(f"fetching {ref.url}")
    try:
        repository.fetch(ref.ref, _FETCH_SECONDS)
    except GitError as error:
        if known is None or _is_missing(str(error)):
            raise UsageError(
                f"--vllm-ascend {ref}: {printable(str(error))}; {_advice(str(error))}"
            ) from error
        return known, [
            f"{ref.url} can't be asked now ({error}): {ref.ref} is as it was when it was fetched last"
        ]
    found = repository.commit_of(ref.ref)
    if found is None:
        raise UsageError(f"--vllm-ascend {ref}: no branch, tag or commit {ref.ref!r} in {ref.url}")
    return found, []


def _is_missing(said: str) -> bool:
    """Whether the repository answered, and has no such ref or commit."""
    return any(words in said for words in ("find remote ref", "not our ref", "unadvertised object"))


def _advice(said: str) -> str:
    if _is_missing(said):
        return "name a branch, a tag or a full commit id that it has"
    return "name a repository that git can fetch from here, or a folder"


def _write(
    repository: Repository, commit: str, writer: TreeWriter, cache: Path, report: Report, below: str = ""
) -> list[str]:
    entries = repository.entries(commit)
    blobs = [entry for entry in entries if entry.mode in ("100644", "100755", "120000")]
    for entry, content in zip(blobs, repository.contents(blobs), strict=True):
        if entry.mode == "120000":
            writer.link(below + entry.name, os.fsdecode(content))
        else:
            executable = entry.mode == "100755"
            writer.file(below + entry.name, io.BytesIO(content), size=len(content), executable=executable)
    notes: list[str] = []
    urls = repository.submodule_urls(commit)
    for entry in entries:
        if entry.mode == "160000":
            path = below + entry.name
            try:
                notes += _write_submodule(repository, entry, urls, writer, cache, report, below)
            except (GitError, UsageError, ValueError) as error:
                notes.append(f"submodule {path} is not there: {printable(str(error))}")
    return notes


def _write_submodule(
    parent: Repository,
    entry: _Entry,
    urls: Mapping[str, str],
    writer: TreeWriter,
    cache: Path,
    report: Report,
    below: str,
) -> list[str]:
    address = urls.get(entry.name, "")
    url = parse_url(_joined(parent.url, address) if address.startswith(("./", "../")) else address)
    if url.is_local and not parent.url.is_local:  # what a stranger's repository names is not ours to give
        raise ValueError(f"{url} is a file of this machine, and its repository is not")
    repository = Repository(cache, url)
    if repository.folder == parent.folder:
        raise ValueError("it is the repository itself")
    with repository.held(report):
        if repository.commit_of(entry.sha) is None:
            report(f"fetching submodule {below}{entry.name} from {url}")
            repository.fetch_commit(entry.sha, _SUBMODULE_SECONDS)
        return _write(repository, entry.sha, writer, cache, report, f"{below}{entry.name}/")


def _joined(url: Url, relative: str) -> str:
    """A submodule's address that is relative to its repository's, as git-submodule(1) means it."""
    parts = urlsplit(url.private)
    path = PurePosixPath(os.path.normpath(f"{parts.path}/{relative}"))
    return urljoin(url.private, parts._replace(path=str(path)).geturl())


def _credentials(url: Url) -> dict[str, str]:
    """Variables that have git use the address with its credentials, which so stand in no command line."""
    if url.private == url.public:
        return {}
    count = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": f"url.{url.private}.insteadOf",
        f"GIT_CONFIG_VALUE_{count}": url.public,
    }
