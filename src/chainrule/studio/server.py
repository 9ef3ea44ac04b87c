"""The server: a session for each tab."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from chainrule.robot.robot import Robot
from chainrule.studio.panels import PANELS
from chainrule.studio.session import Session

if TYPE_CHECKING:
    from viser import ClientHandle


class Studio:
    """The viser server, with a session for each tab."""

    def __init__(self, robot: Robot, host: str = "127.0.0.1", port: int = 8080) -> None:
        import viser

        self.robot = robot
        self.sessions: dict[int, Session] = {}
        self._lock = threading.Lock()
        self.server = viser.ViserServer(host=host, port=port, label="chainrule studio", verbose=False)
        self.server.on_client_connect(self._join)
        self.server.on_client_disconnect(self._leave)

    @property
    def port(self) -> int:
        """The port that the server listens on, which may be another than was asked for."""
        return int(self.server.get_port())

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}"

    def _join(self, client: ClientHandle) -> None:
        session = Session(client, self.robot, PANELS)
        with self._lock:
            self.sessions[client.client_id] = session

    def _leave(self, client: ClientHandle) -> None:
        with self._lock:
            session = self.sessions.pop(client.client_id, None)
        if session is not None:
            session.close()

    def close(self) -> None:
        """End all sessions and the server."""
        for session in list(self.sessions.values()):
            session.close()
        self.server.stop()
