"""A clock over a stretch of time: it plays, pauses, steps, changes its speed and is set by hand."""

from __future__ import annotations

import math

from chainrule.errors import ShapeError

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Seconds of the motion in a second of the clock on the wall."""


class Clock:
    """A time between start and end, moved on by `advance`. It asks nothing of the clock on the wall.

    >>> clock = Clock(0.0, 2.0)
    >>> clock.play()
    >>> clock.speed = 0.5
    >>> clock.advance(1.0), clock.playing
    (0.5, True)
    >>> clock.advance(10.0), clock.playing
    (2.0, False)
    """

    def __init__(self, start: float = 0.0, end: float = 0.0) -> None:
        self.start, self.end = start, end
        """The first and the last time, in s; an infinite end for a motion that goes on."""
        self.time = start
        self.playing = False
        self.looping = False
        """Whether it starts again at its end."""
        self._speed = 1.0

    @property
    def speed(self) -> float:
        """Seconds of the motion in a second."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if not (math.isfinite(speed) and speed > 0):
            raise ShapeError(f"the speed of a clock is positive, got {speed:g}")
        self._speed = speed

    def play(self) -> None:
        """Go on; from the start where the end was reached."""
        if self.time >= self.end:
            self.time = self.start
        self.playing = self.end > self.start

    def pause(self) -> None:
        """Stand still."""
        self.playing = False

    def seek(self, time: float) -> float:
        """Set the time, within start and end."""
        self.time = min(max(time, self.start), self.end)
        return self.time

    def step(self, seconds: float) -> float:
        """Pause, and move by some seconds of the motion, forwards or back."""
        self.pause()
        return self.seek(self.time + seconds)

    def advance(self, seconds: float) -> float:
        """Let some seconds pass; the time after them. At the end it stops, or starts again where it is looping."""
        if not self.playing:
            return self.time
        time = self.time + seconds * self._speed
        if time >= self.end:
            length = self.end - self.start
            self.playing = self.looping
            time = self.start + math.fmod(time - self.start, length) if self.looping else self.end
        self.time = time
        return time
