"""The server: where it listens, a session for each tab, and their end."""

from __future__ import annotations

import errno
import logging
import os
import secrets
import socket
import threading
import warnings
from typing import TYPE_CHECKING

from chainrule.errors import ChainruleError, short_repr
from chainrule.robot.robot import Robot
from chainrule.studio.guard import Guard, check_values, guarded_start, is_loopback, limit_uploads
from chainrule.studio.page import is_gone
from chainrule.studio.panels import PANELS
from chainrule.studio.quiet import without_rich_output
from chainrule.studio.session import Session
from chainrule.studio.uploads import MAX_UPLOAD_BYTES
from chainrule.studio.warm_up import warm_up

if TYPE_CHECKING:
    from viser import ClientHandle, ViserServer

LOG = logging.getLogger("chainrule.studio")

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080
PORTS_TRIED = 50
"""Ports from the default one on that are tried where none is asked for."""

TOKEN_BYTES = 24
MIN_TOKEN_LENGTH = 16


class Studio:
    """The viser server, with a session for each tab.

    Parameters
    ----------
    robot
        The robot that a new tab shows.
    host
        The address to listen on. On any but the loopback, whoever opens the page needs the token.
    port
        The port to listen on; 0 for any free one. None: 8080, or the next that is free.
    token
        True for a token also on the loopback, or a text of at least 16 letters to be used as one.
    """

    def __init__(
        self, robot: Robot, host: str = DEFAULT_HOST, port: int | None = None, token: bool | str | None = None
    ) -> None:
        self.robot = robot
        self.host = host
        self.is_local = is_loopback(host)
        """Whether the server is reached from this machine alone, and a tab may open files by their paths."""
        self.sessions: dict[int, Session] = {}
        self._lock = threading.Lock()
        self.token = _token(token, host, self.is_local)
        listener = _listen(host, port)
        self.port = int(listener.getsockname()[1])
        """The port that the server listens on."""
        guard = Guard(self.token, self.port)
        with guarded_start(guard, listener), without_rich_output():
            self.server = _viser_server(host, self.port)
        self.server.scene.configure_environment_map(hdri=None)  # of the page before its session: see scene/backdrop.py
        self.server.scene.configure_default_lights(enabled=False)
        self._is_open = True
        self._preparation = warm_up(robot, lambda: self._is_open)
        self.server.on_client_connect(self._join)
        self.server.on_client_disconnect(self._leave)

    @property
    def address(self) -> str:
        """The address of the page, for a browser on this machine."""
        host = DEFAULT_HOST if self.host in ("0.0.0.0", "::") else self.host
        return self._address(host)

    @property
    def outside_address(self) -> str | None:
        """The address of the page for other machines; None where they cannot reach it."""
        if self.is_local:
            return None
        return self._address(socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host)

    def _address(self, host: str) -> str:
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def _join(self, client: ClientHandle) -> None:
        """Begin a session for a new tab; an error in it is its own."""
        if is_gone(client):
            return
        check_values(client)
        limit_uploads(client, MAX_UPLOAD_BYTES, lambda reason: self._refuse(client, reason))
        try:
            session = Session(client, self.robot, PANELS, is_local=self.is_local)
        except Exception:
            LOG.exception("a tab could not be opened")
            self._refuse(client, "The page cannot be shown; the terminal has the details.")
            return
        with self._lock:
            self.sessions[client.client_id] = session
        if client.client_id not in self.server.get_clients():  # closed before it was ready
            self._leave(client)

    def _refuse(self, client: ClientHandle, reason: str) -> None:
        client.add_notification("That did not work", reason, color="red", auto_close_seconds=None)

    def _leave(self, client: ClientHandle) -> None:
        """End the session of a tab that was closed."""
        with self._lock:
            session = self.sessions.pop(client.client_id, None)
        if session is not None:
            session.close()

    def close(self) -> None:
        """End all sessions and the server."""
        self._is_open = False
        with self._lock:
            sessions, self.sessions = list(self.sessions.values()), {}
        for session in sessions:
            session.close()
        with without_rich_output():
            self.server.stop()
        self._preparation.join()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _viser_server(host: str, port: int) -> ViserServer:
    """A server of viser that cannot be shared through a tunnel: any page could ask for that."""
    import viser

    # what panels remove when their tab is gone already
    warnings.filterwarnings("ignore", r"Queued a \w+ on a closed connection", UserWarning)

    class Server(viser.ViserServer):  # type: ignore[misc]
        def request_share_url(self, verbose: bool = True) -> str | None:
            LOG.warning("a page asked for a public address of the studio, which there is none")
            return None

    return Server(host=host, port=port, label="chainrule studio", verbose=False)


def _token(token: object, host: str, is_local: bool) -> str | None:
    """The token that pages need, or None."""
    if isinstance(token, str):
        if len(token) < MIN_TOKEN_LENGTH or not all(c.isascii() and (c.isalnum() or c in "-_") for c in token):
            raise ChainruleError(
                f"a token has at least {MIN_TOKEN_LENGTH} letters, digits, - or _; token=True makes one by itself"
            )
        return token
    if token is False and not is_local:
        raise ChainruleError(
            f"on {host} whoever is on the network could use the studio: it is served with a token there; leave token "
            f"out, or listen on {DEFAULT_HOST}"
        )
    return secrets.token_urlsafe(TOKEN_BYTES) if token or not is_local else None


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket bound to the host and the port, or to the first free port from the default one on."""
    if port is not None and not (isinstance(port, int) and 0 <= port <= 65535):
        raise ChainruleError(f"a port is a whole number from 0 to 65535, got {short_repr(port)}")
    family, place = _resolve(host)
    ports = [port] if port is not None else [*range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED), 0]
    for candidate in ports:
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            if os.name == "posix":  # a restart need not wait; on Windows it would mean that others may listen too
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((place, candidate))
            listener.listen(128)
            return listener
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES) or port is not None:
                raise _cannot_listen(host, candidate, error) from error
    raise AssertionError("port 0 is always free")


def _resolve(host: str) -> tuple[int, str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ChainruleError(f"there is no host {host!r} to listen on; give an address of this machine") from error
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return family, str(address[0])


def _cannot_listen(host: str, port: int, error: OSError) -> ChainruleError:
    if error.errno == errno.EADDRINUSE:
        return ChainruleError(
            f"port {port} is taken by another program, perhaps another studio; give another port, or none: the next "
            "free one is taken then"
        )
    return ChainruleError(f"cannot listen on {host}, port {port}: {error.strerror}")
