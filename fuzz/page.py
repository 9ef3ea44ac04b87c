"""The messages of the studio's page: values of its controls, as a tab sends them."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

import chainrule as cr
from fuzz import mutate
from fuzz.registry import WrongError, target

CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (3.0, 0.0, 1.0), "fov": 0.8, "near": 0.01,
    "far": 100.0, "image_height": 720, "image_width": 1280, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip
FRESH_EVERY = 50
"""Inputs after which the robot is shown anew, with all controls as they were."""


class _AtOnce:
    """In place of viser's pool of threads: what is submitted is called here and now."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(function(*arguments))
        return done


def _picture(height: int, width: int, *, transport_format: str, **_: Any) -> Any:
    """What a browser draws when the studio asks it to."""
    return np.zeros((height, width, 4 if transport_format == "png" else 3), dtype=np.uint8)


class _Errors(logging.Handler):
    """Keeps the errors that the studio logs instead of showing them as refusals."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.kept: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.kept.append(error or WrongError(record.getMessage()))


@target("studio", mutate.json_text)
class StudioMessages:
    """Values of the controls of a tab: a list of pairs, which control and what value."""

    def __init__(self, folder: Path) -> None:
        import msgspec
        import viser
        from websockets.sync.client import connect
        from websockets.typing import Subprotocol

        from chainrule.studio.server import Studio

        self.errors = _Errors()
        logging.getLogger("chainrule").addHandler(self.errors)
        self.robot = cr.load("planar_2r").reference
        self.studio = Studio(self.robot, port=0)
        self.studio.is_local = False  # a path in a message opens no file of this machine
        protocol = Subprotocol(f"viser-v{viser.__version__}")
        self.connection = connect(f"ws://127.0.0.1:{self.studio.port}/", subprotocols=[protocol], max_size=None)
        threading.Thread(target=self._read, daemon=True).start()
        self.connection.send(msgspec.msgpack.encode(CAMERA))
        while not self.studio.sessions:
            threading.Event().wait(0.01)
        self.session = next(iter(self.studio.sessions.values()))
        self.session.client.gui._thread_executor = _AtOnce()
        self.session.client.get_render = _picture  # no browser is there to draw
        self.runs = 0

    def _read(self) -> None:
        for _ in self.connection:
            pass

    def seeds(self) -> list[bytes]:
        """Each control with the value that it has, and a few that a user might give."""
        controls = self._controls()
        values = [[k, getattr(control, "value", True)] for k, control in enumerate(controls)]
        values = [[k, list(value) if isinstance(value, tuple) else value] for k, value in values]
        plain = [pair for pair in values if isinstance(pair[1], (bool, int, float, str, list))]
        return [json.dumps([pair]).encode() for pair in plain] + [
            json.dumps(plain[i : i + 4]).encode() for i in range(0, len(plain), 4)
        ]

    def _controls(self) -> list[Any]:
        return list(self.session.client.gui._gui_input_handle_from_uuid.values())

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Send the messages; whatever they hold, the tab goes on with a state in numbers."""
        from viser._messages import GuiUpdateMessage

        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            return
        self.runs += 1
        if self.runs % FRESH_EVERY == 0:
            self.session.show(self.robot)
        client = self.session.client
        for pair in document[:8] if isinstance(document, list) else []:
            controls = self._controls()
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], int)):
                continue
            control = controls[pair[0] % len(controls)]
            message = GuiUpdateMessage(control._impl.uuid, {"value": pair[1]})
            for handler in client._websock_connection._incoming_handlers[GuiUpdateMessage]:
                with contextlib.suppress(StopIteration):
                    handler(client.client_id, message).send(None)
        if self.errors.kept:
            error, self.errors.kept[:] = self.errors.kept[0], []
            raise error
        if not all(np.isfinite(array).all() for array in (self.session.state.q, self.session.state.qd)):
            raise WrongError(f"the state is {self.session.state}")

    def is_long_work(self, data: bytes) -> bool:
        """A button may begin a simulation or a video."""
        return True
