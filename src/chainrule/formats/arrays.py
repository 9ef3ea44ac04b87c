"""Files of arrays by name, .npz: written whole or not at all, and damaged ones refused in one way."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.errors import ChainruleError, FormatError
from chainrule.formats.source import replace_file


def write_whole(path: str | PathLike[str], fill: Callable[[Path], object]) -> None:
    """Let `fill` write a file beside this one, which then takes its place."""
    try:
        replace_file(Path(path), fill)
    except OSError as error:
        raise FormatError(f"{str(path)!r} cannot be written: {error.strerror or error}") from error


def save_arrays(path: Path, arrays: Mapping[str, Any], *, compress: bool = True) -> None:
    """Write arrays to an .npz file."""

    def fill(part: Path) -> None:
        with part.open("wb") as file:
            (np.savez_compressed if compress else np.savez)(file, **arrays)

    write_whole(path, fill)


@contextmanager
def reading(path: str | PathLike[str], what: str) -> Iterator[None]:
    """Turn everything that goes wrong in the block into a FormatError that says whether the file is `what`."""
    if not Path(path).is_file():
        raise FormatError(f"there is no file {str(path)!r}")
    try:
        yield
    except ChainruleError:
        raise
    except OSError as error:
        raise FormatError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    except RecursionError as error:
        raise FormatError(f"{str(path)!r} is not {what} that chainrule wrote: it is nested too deeply") from error
    except MemoryError as error:
        raise FormatError(f"{str(path)!r} announces more numbers than fit into memory") from error
    except Exception as error:  # what NumPy, zipfile, csv and pyarrow raise for damaged files is not documented
        reason = " ".join(str(error).split())[:200]
        raise FormatError(
            f"{str(path)!r} is not {what} that chainrule wrote, or it is damaged: {type(error).__name__}: {reason}"
        ) from error


def load_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, or those of some names that it has; inside a block of `reading`."""
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about headers that are damaged and refused
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files if names is None or name in names}
    for name, array in arrays.items():
        if array.dtype.kind == "U" and _code_points(array).max(initial=0) > sys.maxunicode:
            raise FormatError(f"{str(path)!r} is damaged: the text {name!r} has characters that do not exist")
    return arrays


def _code_points(texts: NDArray[Any]) -> NDArray[Any]:
    """The characters of an array of texts, as numbers."""
    return np.frombuffer(texts.tobytes(), dtype=np.dtype(np.uint32).newbyteorder(texts.dtype.byteorder))
