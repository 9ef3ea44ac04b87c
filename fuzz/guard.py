"""One input under guard: what comes out of a target, how long it took, and what it warned of."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple, TextIO

import chainrule
from chainrule.errors import ChainruleError, ModelWarning, MotionWarning, SimulationWarning
from fuzz.targets import Target, WrongError

HANG_SECONDS = float(os.environ.get("CHAINRULE_FUZZ_HANG_SECONDS", "3"))
"""Processor time after which an input counts as a hang."""
LONG_WORK_SECONDS = 1.0
"""Processor time after which a command that does as much work as it is told to is stopped."""
MEMORY_BYTES = 1 << 30
"""Memory that an input may take beyond what the worker has."""
DECLARED_WARNINGS = (ModelWarning, MotionWarning, SimulationWarning)
LIBRARY = Path(chainrule.__file__).parent

LOADED, REFUSED, STOPPED = "loaded", "refused", "stopped"
HANG, MEMORY, ERROR, WARNING, WRONG, CRASH = "hang", "memory", "error", "warning", "wrong", "crash"
FINDINGS = (CRASH, HANG, MEMORY, ERROR, WARNING, WRONG)


class Outcome(NamedTuple):
    """What came of an input."""

    kind: str
    place: str
    """Where: the kind of exception and the last line of the library."""
    seconds: float
    text: str = ""
    """The traceback of a finding."""

    @property
    def is_finding(self) -> bool:
        """Whether it must not be."""
        return self.kind in FINDINGS


class Hang(BaseException):
    """The input has used its time."""


class _Guards:
    """What is set once for a process."""

    def __init__(self) -> None:
        self.warned: list[tuple[object, type[Warning], str]] = []
        """Messages of warnings, their classes, and the lines of the library that they came from."""
        signal.signal(signal.SIGPROF, _stop)
        warnings.simplefilter("always")
        warnings.showwarning = self._note

    def _note(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not frame.f_code.co_filename.startswith(str(LIBRARY)):
            frame = frame.f_back
        place = f"{filename}:{lineno}" if frame is None else _line(frame.f_code.co_filename, frame.f_lineno)
        self.warned.append((message, category, place))


_guards: _Guards | None = None


def _stop(number: int, frame: FrameType | None) -> None:
    raise Hang


def limit_memory(size: int = MEMORY_BYTES) -> None:
    """Limit the address space of this process to what it has and `size` bytes more."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) if sys.platform == "linux" else 0
    if pages:
        most = pages * resource.getpagesize() + size
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def attempt(target: Target, data: bytes, *, thorough: bool = True) -> Outcome:
    """Run one input, and say what came of it."""
    global _guards  # noqa: PLW0603
    if _guards is None:
        _guards = _Guards()
    _guards.warned.clear()
    is_long = getattr(target, "is_long_work", None)
    long_work = is_long is not None and is_long(data)
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, LONG_WORK_SECONDS if long_work else HANG_SECONDS, 0.5)
        try:
            target.run(data, thorough=thorough)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except ChainruleError as error:
        outcome = Outcome(REFUSED, _place(error), time.process_time() - start)
    except Hang as error:
        kind = STOPPED if long_work else HANG
        outcome = Outcome(kind, _place(error), time.process_time() - start, "" if long_work else _text(error))
    except MemoryError as error:
        outcome = Outcome(MEMORY, _place(error), time.process_time() - start, _text(error))
    except KeyboardInterrupt:
        raise
    except WrongError as error:
        outcome = Outcome(WRONG, str(error)[:30], time.process_time() - start, _text(error))
    except BaseException as error:
        outcome = Outcome(ERROR, _place(error), time.process_time() - start, _text(error))
    else:
        outcome = Outcome(LOADED, "", time.process_time() - start)
    if not outcome.is_finding:
        for message, category, place in _guards.warned:
            if not issubclass(category, DECLARED_WARNINGS):
                return Outcome(
                    WARNING, f"{category.__name__} {place}", outcome.seconds, f"{category.__name__}: {message}"
                )
    return outcome


def _place(error: BaseException) -> str:
    """The kind of an exception and the last line of the library that it went through."""
    found = ""
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(str(LIBRARY)):
            found = f" {_line(file, trace.tb_lineno)}"
        trace = trace.tb_next
    return f"{type(error).__name__}{found}"


def _line(file: str, number: int) -> str:
    """A line of the library, for messages."""
    return f"{file[len(str(LIBRARY)) + 1 :]}:{number}"


def _text(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-12))[-4000:]
