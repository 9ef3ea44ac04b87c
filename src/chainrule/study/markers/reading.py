"""Files of markers: TRC (tables of Motion Analysis and OpenSim), C3D, and BVH, whose joints are taken for markers."""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arguments import Array, file_path, one_of
from chainrule.errors import ChainruleError, FormatError, import_optional, short_repr
from chainrule.motion.text import decode, plain_text
from chainrule.study.markers.bvh import joint_places
from chainrule.study.markers.cloud import Markers

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
"""Lengths in m."""

MAX_TEXT_BYTES = 200_000_000
"""The size of a file of text that is read: hours of a dozen markers."""


def read_markers(path: str | PathLike[str], *, unit: str | None = None) -> Markers:
    """Markers of a file: .trc, .c3d (with ezc3d or c3d installed) or .bvh.

    unit: "m", "cm", "mm" or "in", where the file does not say it or says it wrongly. Files of BVH never say it.
    """
    file = file_path(path, "markers")
    if unit is not None:
        one_of(UNITS, unit, "unit of length", "a file of markers")
    readers = {".trc": _read_trc, ".c3d": _read_c3d, ".bvh": _read_bvh}
    if file.suffix.lower() not in readers:
        raise FormatError(f"markers are read from .trc, .c3d or .bvh, got {file.name!r}")
    if not file.is_file():
        raise FormatError(f"there is no file {str(file)!r}")
    return readers[file.suffix.lower()](file, unit)


def _text(file: Path) -> str:
    if file.stat().st_size > MAX_TEXT_BYTES:
        raise FormatError(f"{file.name} has more than {MAX_TEXT_BYTES:,} bytes; cut it into parts, or write it as .c3d")
    try:
        return decode(plain_text(file.read_bytes(), file.name))
    except OSError as error:
        raise FormatError(f"{file.name} cannot be read: {error.strerror or error}") from error


def _read_trc(file: Path, unit: str | None) -> Markers:
    """TRC: three lines of header, a line of marker names, a line of X1 Y1 Z1, then frames."""
    lines = _text(file).split("\n")
    if len(lines) < 6 or not lines[0].startswith("PathFileType"):
        raise FormatError(f"{file.name} is no TRC file: its first line begins with PathFileType, and data follow")
    header = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    stated = header.get("Units", "").strip().lower() or None
    factor = _factor(unit or stated, file.name)
    rows = []
    for k, line in enumerate(lines[5:], start=6):
        cells = line.rstrip().split("\t")
        if not any(cell.strip() for cell in cells):
            continue
        try:
            rows.append([float(cell) if cell.strip() else np.nan for cell in cells])
        except ValueError:
            raise FormatError(f"{file.name}, line {k}: {short_repr(line)} should be numbers") from None
    if not rows:
        raise FormatError(f"{file.name} has no frames")
    notes = [f"{file.name}: lengths in {unit or stated}"]
    widest = max(map(len, rows))
    columns = _trc_columns(lines[3].split("\t")[2:], header.get("NumMarkers", "").strip(), widest - 2, file.name, notes)
    names, width = tuple(columns.values()), max(widest, 5 + max(columns))
    table = np.array([row + [np.nan] * (width - len(row)) for row in rows])
    places = np.stack([table[:, 2 + first : 5 + first] for first in columns], axis=1) * factor
    stated_count = header.get("NumFrames", "").strip()
    if stated_count.isdecimal() and stated_count.lstrip("0") != str(len(rows)):
        notes.append(f"{file.name}: the header states {stated_count} frames, and there are {len(rows)}")
    return _markers(file.name, names, table[:, 1], places, notes)


def _trc_columns(headings: list[str], stated: str, width: int, file: str, notes: list[str]) -> dict[int, str]:
    """The first column of each marker, after number and time, and its name.

    stated: how many markers the header says there are; width: of the widest row. A marker without a name is left out.
    """
    named = {k: heading.strip() for k, heading in enumerate(headings) if heading.strip()}
    count = int(stated) if stated.isdecimal() and len(stated) < 9 else len(named)
    if any(k % 3 for k in named):  # not above their columns, but one after the other
        named = {3 * k: name for k, name in enumerate(named.values())}
    within = max(max(named, default=0) + 3, width) <= 3 * count
    if not named or not within or (len(named) < count and max(named) + 3 < 3 * count):
        raise FormatError(
            f"{file}: which marker has which columns cannot be told: the header states {count} markers, line 4 names "
            f"{len(named)}, and rows have {width} columns for them; write a name above each three columns"
        )
    nameless = [str(k + 1) for k in range(count) if 3 * k not in named]
    if nameless:
        notes.append(f"{file}: markers without a name are left out: number {', '.join(nameless)} of {count}")
    return named


def _factor(unit: str | None, name: str) -> float:
    if unit is None:
        raise FormatError(f"{name} does not say its unit of length; give unit='mm', 'cm', 'm' or 'in'")
    if unit not in UNITS:
        raise FormatError(f"{name}: no unit of length is {short_repr(unit)}; give unit='mm', 'cm', 'm' or 'in'")
    return UNITS[unit]


def _markers(file: str, names: tuple[str, ...], t: Array, places: Array, notes: list[str]) -> Markers:
    try:
        return Markers(names, t, places, tuple(notes))
    except ChainruleError as error:
        raise FormatError(f"{file}: {error}") from error


def _read_c3d(file: Path, unit: str | None) -> Markers:
    """C3D by whichever of the two packages is installed."""
    if find_spec("ezc3d") is None:
        return _read_c3d_in_python(file, unit)
    ezc3d = import_module("ezc3d")
    try:
        content: Any = ezc3d.c3d(str(file))
        points, parameters = content["data"]["points"], content["parameters"]["POINT"]
        rate = float(parameters["RATE"]["value"][0])
        names = tuple(str(name).strip() for name in parameters["LABELS"]["value"])
        stated = str((parameters.get("UNITS", {}).get("value") or [""])[0]).strip().lower() or None
    except Exception as error:  # the package raises whatever its C++ does
        raise FormatError(f"{file.name} is no C3D file that can be read: {error!s:.160}") from error
    places = np.moveaxis(np.asarray(points)[:3, : len(names)], 0, -1).transpose(1, 0, 2)
    return _from_c3d(file, unit or stated, names, rate, np.array(places, dtype=float))


def _read_c3d_in_python(file: Path, unit: str | None) -> Markers:
    c3d = import_optional("c3d", "reading C3D")
    try:
        with file.open("rb") as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parameters that nobody asked for
            reader: Any = c3d.Reader(handle)
            frames = [points for _, points, _ in reader.read_frames()]
            names = tuple(str(name).strip() for name in reader.point_labels)
            rate = float(reader.point_rate)
            stated = str(reader.get("POINT:UNITS").string_value).strip().lower() or None
    except Exception as error:
        raise FormatError(f"{file.name} is no C3D file that can be read: {error!s:.160}") from error
    table = np.array(frames, dtype=float).reshape(len(frames), -1, 5)[:, : len(names)]
    places = np.where(table[..., 3:4] < 0, np.nan, table[..., :3])  # a negative residual: not seen
    return _from_c3d(file, unit or stated, names, rate, places)


def _from_c3d(file: Path, unit: str | None, names: tuple[str, ...], rate: float, places: Array) -> Markers:
    if not rate > 0:
        raise FormatError(f"{file.name} states a rate of {rate:g} frames a second")
    places = places * _factor(unit, file.name)
    zero = np.asarray((places == 0).all(axis=-1))
    places[zero & ~zero.all(axis=0)] = np.nan  # how some programs write what was not seen
    return _markers(file.name, names, np.arange(len(places)) / rate, places, [f"{file.name}: lengths in {unit}"])


def _read_bvh(file: Path, unit: str | None) -> Markers:
    names, t, places, notes = joint_places(_text(file), file.name)
    notes.insert(0, f"{file.name}: the centers of its joints are taken for markers; lengths in {unit or 'cm'}")
    if unit is None:
        notes.append(f"{file.name}: BVH states no unit; cm is assumed, give unit=... for another")
    return _markers(file.name, tuple(names), t, places * UNITS[unit or "cm"], notes)


def plain_name(name: str) -> str:
    """A name without case, blanks and signs, to compare by."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
