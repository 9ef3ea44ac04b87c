"""Screenshots and videos of the page, as downloads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import ChainruleError
from chainrule.plots.video import Picture
from chainrule.studio.player import video
from chainrule.studio.player.transport import Transport

if TYPE_CHECKING:
    from chainrule.studio.session import Session

PICTURE_TIMEOUT_S = 20.0
"""How long a picture is waited for: a browser draws nothing in a tab that is not seen."""

WIDTHS = ("480", "640", "960", "1280")
"""Of videos, in pixels."""

MAX_SCREENSHOT_PIXELS = 2560
"""The longer side of a screenshot."""


class CaptureError(ChainruleError):
    """The page gave no picture."""


class Recorder:
    """Controls that make pictures of a session: a screenshot, and a video of what a transport plays."""

    def __init__(self, session: Session, transport: Transport) -> None:
        self.session, self.transport = session, transport
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def build(self) -> None:
        """Make the controls in the container that is open."""
        gui, guarded = self.session.client.gui, self.session.guarded
        shot = gui.add_button("Screenshot", icon="camera", hint="The view as a PNG file, with transparent background.")
        shot.on_click(guarded(lambda _: self.screenshot()))
        kinds = video.kinds()
        self.kind = gui.add_dropdown("Video", kinds)
        if "MP4" not in kinds:
            gui.add_markdown("MP4 needs ffmpeg, which is not installed where the studio runs: videos are GIF files.")
        self.width = gui.add_dropdown("Width", WIDTHS, initial_value="640")
        self.fps = gui.add_slider("Frames a second", 5, 30, 1, 20)
        self.button = gui.add_button("Record", icon="video", hint="The motion from its start to its end, as a file.")
        self.button.on_click(guarded(lambda _: self.toggle()))
        self.progress = gui.add_progress_bar(0.0, visible=False)

    def screenshot(self) -> None:
        """Send the view as a PNG file."""
        camera = self.session.client.camera
        scale = min(1.0, MAX_SCREENSHOT_PIXELS / max(camera.image_width, camera.image_height))
        size = round(camera.image_height * scale), round(camera.image_width * scale)
        self._send(f"{self._name}.png", video.png(self.capture(*size, "png")))

    def capture(self, height: int, width: int, format: Any = "jpeg") -> Picture:
        """The view of this moment as an image, (height, width, 3 or 4)."""
        try:
            return self.session.client.get_render(height, width, transport_format=format, timeout=PICTURE_TIMEOUT_S)
        except (RuntimeError, TimeoutError) as error:
            raise CaptureError("The page gave no picture: keep its tab in the foreground, and try again.") from error

    def toggle(self) -> None:
        """Begin to record, or stop."""
        if self._thread is not None and self._thread.is_alive():
            self._stop.set()
            return
        self.transport.pause()
        source = self.transport.source
        times = video.frame_times(source.start, source.end, self.fps.value, self.transport.clock.speed)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(times, self._stop), name="chainrule studio video", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop recording."""
        self._stop.set()

    @property
    def _name(self) -> str:
        """The robot's name as that of a file."""
        return "".join(c if c.isalnum() or c in "-_" else "_" for c in self.session.robot.name)[:60] or "robot"

    def _run(self, times: Any, stop: threading.Event) -> None:
        self._tell(label="Stop", visible=True)
        try:
            self.session.guarded(lambda: self._record(times, stop))()
        finally:
            self._tell(label="Record", visible=False)

    def _tell(self, *, label: str | None = None, visible: bool | None = None, percent: float | None = None) -> None:
        """Change the button and the bar, while they are there: another robot may take this one's place meanwhile."""
        with suppress(RuntimeError):  # viser's, of a control that was removed
            if label is not None:
                self.button.label = label
            if visible is not None:
                self.progress.visible = visible
            if percent is not None:
                self.progress.value = percent

    def _record(self, times: Any, stop: threading.Event) -> None:
        width = int(self.width.value)
        camera = self.session.client.camera
        height = max(2, round(width * camera.image_height / camera.image_width / 2) * 2)
        kind = self.kind.value
        content = video.encode(self._frames(times, height, width, stop), self.fps.value, kind)
        if not stop.is_set():
            self._send(f"{self._name}.{kind.lower()}", content)

    def _frames(self, times: Any, height: int, width: int, stop: threading.Event) -> Iterator[Picture]:
        """Pictures of the motion at times, at least one."""
        for k, time in enumerate(times):
            if stop.is_set() and k:
                return
            self.transport.seek(float(time))
            self.session.draw()
            self._tell(percent=100.0 * (k + 1) / len(times))
            yield np.ascontiguousarray(self.capture(height, width)[..., :3])

    def _send(self, name: str, content: bytes) -> None:
        self.session.client.send_file_download(name, content, save_immediately=True)
