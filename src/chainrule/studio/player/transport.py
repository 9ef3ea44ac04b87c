"""Play, pause, step, speed and scrubbing on the page, and the thread that moves the robot meanwhile."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from chainrule.studio.inputs import GuardedControl
from chainrule.studio.page import is_gone
from chainrule.studio.player.clock import SPEEDS, Clock
from chainrule.studio.player.sources import PlayerSource

if TYPE_CHECKING:
    from chainrule.studio.session import Session

FRAME_S = 1 / 60
"""The shortest time between two moves of the robot."""

MAX_FRAME_S = 0.1
"""What a slow page loses no more than: the motion then runs slower than in real time, and misses nothing."""

MAX_WAIT_S = 1.0
"""How long the thread waits for the page to be drawn."""

CONTROLS_S = 0.1
"""The time between two updates of the controls while it plays."""

STEP_S = 0.01
"""The length of a step by hand."""

PLAY, PAUSE = "Play", "Pause"
BACK, STEP, RESET = "Back", "Step", "To start"


class Runner:
    """A source that plays by a clock. A thread runs while it does, and ends when it pauses or is closed.

    The panel that owns it calls `mark_drawn` in its own `update`, and `close`.
    """

    def __init__(self, session: Session, source: PlayerSource) -> None:
        self.session, self.source = session, source
        self.clock = Clock()
        self._lock = threading.RLock()
        self._drawn = threading.Event()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        """Ends the thread of this moment; the next one has its own."""
        self._closed = False

    def mark_drawn(self) -> None:
        """Take note that the page was drawn, on the session's thread; another motion that has begun stops this one."""
        if self.clock.playing and any(isinstance(m, Runner) and m is not self for m in self.session.movers):
            self.pause()
        self._drawn.set()

    def load(self, source: PlayerSource) -> None:
        """Play another source from its start."""
        self.pause()
        with self._lock:
            self.source = source
            self.clock.start, self.clock.end, self.clock.time = source.start, self._end, source.start
            source.show(source.start, self)

    @property
    def _end(self) -> float:
        return math.inf if self.source.goes_on else self.source.end

    @property
    def playing(self) -> bool:
        """Whether the motion goes on."""
        return self.clock.playing

    def toggle(self) -> None:
        """Play, or pause."""
        self.pause() if self.clock.playing else self.play()

    def play(self) -> None:
        """Go on from the moment that is shown, on a thread of its own."""
        with self._lock:
            if self._closed or self.clock.playing:
                return
            self.clock.start, self.clock.end = self.source.start, self._end
            self.clock.play()
            self._stop = threading.Event()
            if self.clock.playing:
                self._thread = threading.Thread(
                    target=self._run, args=(self._stop,), name="chainrule studio motion", daemon=True
                )
                self._thread.start()

    def pause(self) -> None:
        """Stand still: the thread ends after the frame that it is at."""
        self._stop.set()
        self.clock.pause()
        self._drawn.set()
        self.session.move()

    def seek(self, time: float) -> None:
        """Pause, and show another moment."""
        self.pause()
        with self._lock:
            self.clock.start, self.clock.end = self.source.start, self._end
            self.clock.seek(min(time, self.source.end))
            self.source.show(self.clock.time, self)

    def step(self, seconds: float) -> None:
        """Pause, and move by some seconds; a simulation goes on where its end is reached."""
        self.pause()
        with self._lock:
            time = self.clock.time + seconds
            if self.source.goes_on and time > self.source.end - 1e-9:
                self.source.begin()
                self.clock.time = time
                self.source.play(time, self)
            else:
                self.seek(time)

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._stop.set()
        self.clock.pause()
        self._drawn.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(MAX_WAIT_S)

    # --- the thread ---

    def _run(self, stop: threading.Event) -> None:
        try:
            self.session.guarded(lambda: self._play_frames(stop), work=None)()
        finally:
            if stop is self._stop:
                self.clock.pause()
            if not self._closed:
                self.session.move()

    def _play_frames(self, stop: threading.Event) -> None:
        """Move the robot, wait until the page has drawn it, and so on: a slow page gets fewer frames."""
        with self._lock, self.session.busy("Preparing the motion …"):
            self.source.begin()
        last = monotonic()
        with ThreadPoolExecutor(1, "chainrule studio page") as answers:
            before = None
            while not stop.is_set() and self.clock.playing:
                now = monotonic()
                with self._lock:
                    if stop.is_set():
                        return
                    self._drawn.clear()
                    self.source.play(self.clock.advance(min(now - last, MAX_FRAME_S)), self)
                last = now
                self._drawn.wait(MAX_WAIT_S)
                answer = answers.submit(self._wait_for_page)
                if before is not None:
                    before.result()  # one frame may be on its way while the next is computed
                before = answer
                stop.wait(max(0.0, FRAME_S - (monotonic() - now)))

    def _wait_for_page(self) -> None:
        """Wait until the page has taken all that was sent: it answers a question between two pictures."""
        if is_gone(self.session.client):
            return
        with suppress(RuntimeError, TimeoutError):  # it is closed, or not seen
            self.session.client.local_storage.get_item("chainrule", timeout=MAX_WAIT_S)


class Transport(Runner):
    """A runner with controls on the page. The panel that owns it calls `build` and `update` in its own."""

    _command: Any = None
    _due = 0.0

    def build(self, key: str | None = None) -> None:
        """Make the controls in the container that is open; key: the one that plays and pauses, as a capital letter."""
        gui, guarded = self.session.client.gui, self.session.guarded
        hint = "Go on, or stand still" + (f" (key {key})." if key else ".")
        self._play = gui.add_button(PLAY, icon="player-play", hint=hint)
        self._play.on_click(guarded(lambda _: self.toggle()))
        if key:
            self._command = gui.add_command("Play or pause the simulation", hotkey=key)
            self._command.on_trigger(guarded(lambda _: self.toggle()))
        self._steps = gui.add_button_group("Step", (BACK, STEP, RESET))
        self._steps.on_click(guarded(lambda _: self._step(self._steps.value)))
        slider = gui.add_slider("Time (s)", 0.0, 1.0, 1e-3, 0.0)
        self._time = GuardedControl(self.session, slider, lambda: self.seek(self._time.value))
        self._speed = gui.add_dropdown("Speed", [f"{speed:g}x" for speed in SPEEDS], initial_value="1x")
        self._speed.on_update(guarded(lambda _: self._set_speed()))

    def _set_speed(self) -> None:
        self.clock.speed = float(self._speed.value.rstrip("x"))

    def _step(self, which: str) -> None:
        if which == RESET:
            self.seek(self.source.start)
        else:
            self.step(STEP_S if which == STEP else -STEP_S)

    def update(self) -> None:
        """Show the time and whether it plays; the robot of this moment is drawn."""
        self.mark_drawn()
        if monotonic() < self._due and self.clock.playing:
            return
        self._due = monotonic() + CONTROLS_S
        playing = self.clock.playing
        self._play.label = PAUSE if playing else PLAY
        self._play.icon = "player-pause" if playing else "player-play"
        lower, upper = self._time.control.min, self._time.control.max = _bounds(self.source.start, self.source.end)
        self._time.show(round(min(max(self.clock.time, lower), upper), 3))

    def close(self) -> None:
        """End the thread, and remove the key."""
        if self._command is not None:
            self._command.remove()
        super().close()


def _bounds(start: float, end: float) -> tuple[float, float]:
    """Ends of the slider: whole seconds around the motion where it is long, so that they change rarely."""
    if end - start < 2.0:
        return math.floor(start), math.ceil(max(end, start + 1e-3) * 10) / 10
    return math.floor(start), float(math.ceil(end))
