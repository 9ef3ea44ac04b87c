"""Robots that a page sends: one file, or a zip with meshes. Nothing in them is trusted.

Files are written only into a temporary folder of the session, which is removed with it. A robot in an upload names no
files outside that folder: what it includes is read within it (`formats.source.only_within`), and the meshes of the
model that comes out are those in it.
"""

from __future__ import annotations

import io
import shutil
import stat
import threading
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from chainrule.errors import ChainruleError, FormatError, quoted, short_repr
from chainrule.formats import packages, registry
from chainrule.formats.folder import robot_files
from chainrule.formats.source import only_within
from chainrule.model import Model
from chainrule.model.geometry import Geometry, Mesh
from chainrule.robot.library import load
from chainrule.robot.robot import Robot
from chainrule.shapes.meshes import SUFFIXES as MESH_SUFFIXES

MIB = 1024 * 1024

MAX_UPLOAD_BYTES = 64 * MIB
"""Size of one upload."""

MAX_EXPANDED_BYTES = 256 * MIB
"""Size of all files in a zip together, and of all uploads that a tab keeps."""

MAX_UPLOADS = 50
"""Uploads of one tab."""

MAX_FILES = 2000
"""Files in a zip."""

MAX_DIRECTORY_BYTES = 500 * MAX_FILES
"""Size of a zip's list of files, which is read as a whole."""

MAX_RATIO = 200
"""How many times larger than the zip its files may be; meshes and XML come to 20."""

MAX_NAME_LENGTH = 200
MAX_DEPTH = 12
CHUNK_BYTES = 1 * MIB

SUFFIXES_BESIDE = (".mtl", ".bin", ".png", ".jpg", ".jpeg", ".srdf", ".config")
"""Files that robots and meshes name, beside those that are robots or meshes themselves."""

ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".jar", ".3mf", ".whl")

COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class Upload:
    """An upload that was unpacked: its folder, and the robot files in it, relative to the folder."""

    name: str
    folder: Path
    robots: tuple[str, ...]


@dataclass(frozen=True)
class Opened:
    """A robot of an upload, and sentences about what the user should know of it."""

    robot: Robot
    notes: tuple[str, ...]


class Uploads:
    """The uploads of one tab, in a temporary folder that is made for the first and removed by `close`."""

    def __init__(self) -> None:
        self.last: Upload | None = None
        """The upload that came last, if any."""
        self._folder: TemporaryDirectory[str] | None = None
        self._count = 0
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, name: str, content: bytes) -> Upload:
        """Check a file or a zip, and write what is in it into a folder of its own."""
        if len(content) > MAX_UPLOAD_BYTES:
            raise FormatError(f"{short_repr(name)} has {len(content) >> 20} MiB; at most {MAX_UPLOAD_BYTES >> 20} MiB")
        if not content:
            raise FormatError(f"{short_repr(name)} is empty")
        files = _unpack(name, content) if _is_zip(name, content) else iter([_single(name, content)])
        with self._lock:
            folder = self._new_folder()
            before = self._bytes
            try:
                self.last = self._write(name, files, folder)
            except FormatError:
                self._bytes = before
                shutil.rmtree(folder, ignore_errors=True)
                raise
            return self.last

    def _new_folder(self) -> Path:
        if self._count >= MAX_UPLOADS:
            raise FormatError(f"this tab has had {MAX_UPLOADS} uploads; reload the page to begin anew")
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="chainrule-studio-", ignore_cleanup_errors=True)
        self._count += 1
        folder = Path(self._folder.name).resolve() / f"upload{self._count}"
        folder.mkdir()
        return folder

    def _write(self, name: str, files: Iterator[tuple[PurePosixPath, Iterator[bytes]]], folder: Path) -> Upload:
        for place, chunks in files:
            path = folder.joinpath(*place.parts)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:
                    for chunk in chunks:
                        self._bytes += len(chunk)
                        if self._bytes > MAX_EXPANDED_BYTES:
                            most = MAX_EXPANDED_BYTES >> 20
                            raise FormatError(f"the uploads of this tab have over {most} MiB when unpacked: too much")
                        file.write(chunk)
            except OSError as error:
                raise FormatError(f"cannot unpack {str(place)!r}: {error.strerror}") from error
        top = _top(folder)
        with _within(top, name):
            robots = tuple(path.relative_to(top).as_posix() for path in robot_files(top))
        if not robots:
            known = registry.either(_robot_suffixes())
            raise FormatError(f"there is no robot in {short_repr(name)}; robots come as {known} files, or in a zip")
        return Upload(name, top, robots)

    def close(self) -> None:
        """Remove all files."""
        with self._lock:
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None
            self._count = MAX_UPLOADS


def open_upload(
    upload: Upload, file: str | None = None, *, floating_base: bool = False, repair: bool = False
) -> Opened:
    """Load a robot of an upload, the first unless another file is named; it reads no files outside its folder."""
    if file is not None and file not in upload.robots:
        raise FormatError(f"{upload.name} has no robot file {file!r}; there are: {quoted(upload.robots)}")
    path = upload.folder / (upload.robots[0] if file is None else file)
    with _within(upload.folder, upload.name):
        robot = load(path, check=False, repair=repair, floating_base=floating_base, search_paths=(upload.folder,))
        model, missing = with_own_meshes(robot.model, upload.folder)
    lost = [f"these meshes are not in the upload and are not drawn: {quoted(missing)}"] if missing else []
    return Opened(Robot(model), (*model.notes, *lost))


@contextmanager
def _within(folder: Path, name: str) -> Iterator[None]:
    """Read files of the folder only; messages do not say where on the server's disk it is."""
    try:
        with only_within(folder):
            yield
    except ChainruleError as error:
        raise type(error)(str(error).replace(f"{folder}/", "").replace(str(folder), name)) from error


def with_own_meshes(model: Model, folder: Path) -> tuple[Model, list[str]]:
    """The model with its meshes named by their places in the folder, and the names of those that are not there."""
    kept: list[Geometry] = []
    missing: dict[str, None] = {}
    for geometry in model.geometries:
        if isinstance(geometry.shape, Mesh):
            place = _mesh_in(geometry.shape, folder)
            if place is None:
                missing[geometry.shape.path] = None
                continue
            geometry = replace(geometry, shape=replace(geometry.shape, path=place, folder=str(folder)))
        kept.append(geometry)
    return replace(model, geometries=tuple(kept)), list(missing)


def _mesh_in(mesh: Mesh, folder: Path) -> str | None:
    """The place of a mesh in the folder, also where the zip lacks the folder of the package."""
    near = folder if mesh.folder is None else Path(mesh.folder)
    candidates = [mesh.path, mesh.path.partition("://")[2].partition("/")[2]]
    for candidate in filter(None, candidates):
        for start in (near, folder):
            found = packages.resolve(candidate, start, (folder,))
            if found is not None and found.is_file():
                return found.resolve().relative_to(folder.resolve()).as_posix()
    return None


# Zips


def _is_zip(name: str, content: bytes) -> bool:
    return name.lower().endswith(".zip") or content.startswith(b"PK\x03\x04")


def _robot_suffixes() -> tuple[str, ...]:
    return tuple(suffix for suffix in registry.readable_suffixes() if "xacro" not in suffix)


def _single(name: str, content: bytes) -> tuple[PurePosixPath, Iterator[bytes]]:
    """One robot file that is no zip."""
    place = _place(name.replace("\\", "/").rpartition("/")[2])
    if place.suffix.lower() not in registry.readable_suffixes():
        known = registry.either(_robot_suffixes())
        raise FormatError(f"{short_repr(name)} is no robot file; robots come as {known} files, or in a zip with meshes")
    return place, iter([content])


def _unpack(name: str, content: bytes) -> Iterator[tuple[PurePosixPath, Iterator[bytes]]]:
    """The files of a zip that robots need, after all of them are checked; chunks are read as they are asked for."""
    _refuse_long_directory(name, content)
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        entries = [(entry, _check_entry(entry)) for entry in archive.infolist()]
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError, OverflowError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{short_repr(name)} is not a zip that can be read: {error}") from error
    files = [(entry, place) for entry, place in entries if not entry.is_dir()]
    if len(files) > MAX_FILES:
        raise FormatError(f"{short_repr(name)} has {len(files)} files; at most {MAX_FILES}")
    total = sum(entry.file_size for entry, _ in files)
    if total > MAX_EXPANDED_BYTES:
        raise FormatError(f"{short_repr(name)} has {total >> 20} MiB when unpacked; at most {MAX_EXPANDED_BYTES >> 20}")
    if total > max(MIB, MAX_RATIO * len(content)):
        raise FormatError(f"{short_repr(name)} grows {total // len(content)} times when unpacked, as no robot does")
    common = Counter(str(place).casefold() for _, place in files).most_common(1)
    if common and common[0][1] > 1:
        raise FormatError(f"{short_repr(name)} has {common[0][1]} files named {common[0][0]!r}")
    return ((place, _chunks(archive, entry)) for entry, place in files if _is_needed(place))


def _refuse_long_directory(name: str, content: bytes) -> None:
    """Refuse a zip with a very long list of files before the list is read: it would take much memory."""
    end = content.rfind(b"PK\x05\x06", -65557 if len(content) > 65557 else 0)
    if end < 0 or len(content) < end + 22:
        raise FormatError(f"{short_repr(name)} is not a zip that can be read: its end is missing")
    if (
        int.from_bytes(content[end + 12 : end + 16], "little") > MAX_DIRECTORY_BYTES
        or b"PK\x06\x07" in content[max(end - 20, 0) : end]
    ):
        raise FormatError(f"{short_repr(name)} lists too many files; at most {MAX_FILES}")


def _check_entry(entry: zipfile.ZipInfo) -> PurePosixPath:
    """The place of a file in a zip, which must be below the folder that it is unpacked in."""
    place = _place(entry.orig_filename.rstrip("/") if entry.is_dir() else entry.orig_filename)
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a link" if stat.S_ISLNK(mode) else "a special file"
        raise FormatError(f"{str(place)!r} in the zip is {what}; a zip of a robot has files and folders only")
    if entry.flag_bits & 0x1:
        raise FormatError(f"{str(place)!r} in the zip is encrypted; send it without a password")
    if entry.compress_type not in COMPRESSIONS:
        raise FormatError(f"{str(place)!r} in the zip is compressed in an unusual way; make the zip anew with deflate")
    if place.suffix.lower() in ARCHIVES:
        raise FormatError(f"the zip has another archive in it, {str(place)!r}; send the files themselves")
    return place


def _place(name: str) -> PurePosixPath:
    """A name as a relative path without surprises."""
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise FormatError(
            f"{short_repr(name)} is no name of a file that is accepted: at most {MAX_NAME_LENGTH} letters"
        )
    if name.startswith("/") or "\\" in name or ":" in name:
        raise FormatError(
            f"{name!r} in the upload is a place on a disk; names must be relative, with / between folders"
        )
    parts = name.split("/")
    if ".." in parts or any(part in ("", ".") or part.endswith((" ", ".")) for part in parts):
        raise FormatError(f"{name!r} in the upload leads out of its folder, or is not a plain name")
    if len(parts) > MAX_DEPTH:
        raise FormatError(f"{name!r} in the upload lies {len(parts)} folders deep; at most {MAX_DEPTH}")
    return PurePosixPath(*parts)


def _is_needed(place: PurePosixPath) -> bool:
    """Whether a file is one that a robot may need; others are not written."""
    if any(part.startswith((".", "__MACOSX")) for part in place.parts):
        return False
    return place.suffix.lower() in (*registry.readable_suffixes(), *MESH_SUFFIXES, *SUFFIXES_BESIDE)


def _chunks(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a file; refused where it is not what the list of files says."""
    seen = 0
    try:
        with archive.open(entry) as file:
            while chunk := file.read(CHUNK_BYTES):
                seen += len(chunk)
                if seen > entry.file_size:
                    raise FormatError(f"{entry.filename!r} in the zip is larger than the zip says")
                yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise FormatError(f"{entry.filename!r} in the zip is damaged: {error}") from error


def _top(folder: Path) -> Path:
    """The folder itself, or the only one inside it, as most zips have it."""
    entries = list(folder.iterdir())
    while len(entries) == 1 and entries[0].is_dir():
        folder = entries[0]
        entries = list(folder.iterdir())
    return folder
