"""A progress bar with the time left, by rich."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

from chainrule.arguments import flag

PATIENCE = 1.0
"""Seconds before a bar appears."""


class ProgressBar:
    """The progress of something long: shown on a terminal after a second; `show` True or False overrides the first.

    What is done, and in which unit, can be said in other words: ProgressBar(100, None, "drawing", "frames").
    """

    def __init__(self, duration: float, show: bool | None, doing: str = "simulating", unit: str = "s") -> None:
        self.duration = duration
        self.doing, self.unit = doing, unit
        on_terminal = sys.stderr is not None and sys.stderr.isatty()
        self.show = on_terminal if show is None else flag(show, "progress")
        self.started = time.monotonic()
        self.bar: Any = None

    def __enter__(self) -> Self:
        return self

    def at(self, t: float) -> None:
        """Show that the simulation has reached the time t."""
        if not self.show:
            return
        if self.bar is None and time.monotonic() - self.started > PATIENCE:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn(self.doing), BarColumn(), TextColumn("{task.fields[at]}"), TimeRemainingColumn())
            console = Console(stderr=True)
            self.bar = Progress(*columns, console=console, transient=console.is_terminal)
            self.bar.start()
            self.task = self.bar.add_task("", total=self.duration, at="")
        if self.bar is not None:
            self.bar.update(self.task, completed=t, at=f"{t:.3g} of {self.duration:g} {self.unit}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
