"""Who may talk to the server: every request is checked before viser sees it.

A page of another site that is open in the same browser must reach neither the page nor its websocket, and whoever is on
the network only with the token:

- The Host header must be a name of this machine's own loopback, unless there is a token: a foreign name that was made
  to lead here (DNS rebinding) is refused.
- A request that names an Origin must come from the page itself.
- With a token, it must be in the address, or in the cookie that the first page has set.
- The page takes no other server's address from its own address.
- Messages give controls only values that these can have.
- What is no request of a page at all, such as the first bytes of an encrypted one, is answered too, and leaves no
  traceback on the terminal.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from chainrule.studio.policy import SentPage

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    Process = Callable[[ServerConnection, Request], "Response | None"]

FOREIGN_PARAMETERS = ("websocket", "playbackPath")
"""Parameters of an address by which viser's page would talk to another server."""

MAX_TABS = 64
"""Tabs that are served at once."""

MAX_PATH_LETTERS = 2000
"""Letters of an address that are read; the page's own have a tenth of that."""

MAX_TEXT, MAX_NUMBER = 100_000, 1e15
"""The longest text, and the largest number, that a control of the page may have."""

HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""

_STARTING = threading.Lock()

NO_REQUEST = "This is no request of a page: it is not GET in HTTP/1.1, or a line of it is too long.\n"

LOG = logging.getLogger("chainrule.studio.requests")
LOG.addFilter(lambda record: not (record.exc_info and is_unreadable(record.exc_info[1])))


def is_unreadable(error: BaseException | None) -> bool:
    """Whether an error of websockets is that bytes are no request, or end before they are one."""
    from websockets.exceptions import InvalidMessage

    return isinstance(error, InvalidMessage)


def is_loopback(host: str) -> bool:
    """Whether a host is reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """The check of requests to one server."""

    def __init__(self, token: str | None, port: int) -> None:
        """A guard that asks for a token unless it is None."""
        self.token = token
        self.cookie = f"chainrule_studio_{port}"  # cookies do not tell ports apart
        self.tabs: set[asyncio.Task[None]] = set()
        """A task for each tab that was let in, which ends with its connection."""
        self.page = SentPage()

    def around(self, process: Process) -> Process:
        """The same processing of requests, after the check."""

        def check_and_process(connection: ServerConnection, request: Request) -> Response | None:
            refusal = self.refusal(request)
            if refusal is not None:
                status, reason = refusal
                return self._answer(connection.respond(status, f"{reason}\n"))
            if not request.headers.get_all("Upgrade") and _is_page(request):
                return self._answer(self._send_page(connection, request), welcome=True)
            try:
                response = process(connection, request)
            except (OSError, ValueError):  # of names that no file can have
                return self._answer(connection.respond(HTTPStatus.NOT_FOUND, "There is no such file.\n"))
            if response is not None:
                return self._answer(response)
            tab = asyncio.get_running_loop().create_task(connection.wait_closed())
            self.tabs.add(tab)  # before the next request is looked at: requests are checked one after the other
            tab.add_done_callback(self.tabs.discard)
            return None

        return check_and_process

    def connection(self) -> type[ServerConnection]:
        """The class of connections, which answer what is no request of a page."""
        from websockets.asyncio.server import ServerConnection

        answer = self._answer

        class AnsweringConnection(ServerConnection):
            has_answered = False

            def send_data(self) -> None:
                """Send what there is to send, after an answer to bytes that are no request: websockets has none."""
                error = self.protocol.handshake_exc
                if error is not None and is_unreadable(error) and not self.has_answered:
                    self.has_answered = True
                    response = self.respond(HTTPStatus.BAD_REQUEST, NO_REQUEST)
                    self.transport.write(answer(response).serialize())
                super().send_data()

        return AnsweringConnection

    def refusal(self, request: Request) -> tuple[HTTPStatus, str] | None:
        """The status and the sentence with which a request is refused; None if it may pass."""
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(request.path) > MAX_PATH_LETTERS:
            return HTTPStatus.REQUEST_URI_TOO_LONG, f"The address has more than {MAX_PATH_LETTERS} letters."
        if len(hosts) != 1 or len(origins) > 1:
            return HTTPStatus.BAD_REQUEST, "The request must name one host, and one origin at most."
        if self.token is None and not is_loopback(_name_of(hosts[0])):
            return HTTPStatus.FORBIDDEN, "This page is served to this machine alone: open it as http://127.0.0.1."
        if origins and origins[0].partition("://")[2].lower() != hosts[0].lower():
            return HTTPStatus.FORBIDDEN, "Pages of other sites may not use the studio."
        if not self._has_token(request):
            return HTTPStatus.FORBIDDEN, "This page needs its token: open the address that `chainrule studio` printed."
        parameters = parse_qs(request.path.partition("?")[2], keep_blank_values=True)
        if any(name in parameters for name in FOREIGN_PARAMETERS):
            return HTTPStatus.FORBIDDEN, "The studio's page connects to its own server only."
        opens_a_tab = request.headers.get_all("Upgrade") or _is_page(request)
        if opens_a_tab and len(self.tabs) >= MAX_TABS:
            return HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_TABS} tabs are open; close some of them first."
        return None

    def _has_token(self, request: Request) -> bool:
        """Whether the token is in the address or in the cookie; compared in constant time."""
        if self.token is None:
            return True
        given = parse_qs(request.path.partition("?")[2]).get("token", [])
        for header in request.headers.get_all("Cookie"):
            try:
                cookies = SimpleCookie(header)
            except CookieError:
                continue
            given += [cookies[self.cookie].value] if self.cookie in cookies else []
        return any(hmac.compare_digest(self.token.encode(), one.encode(errors="replace")) for one in given)

    def _send_page(self, connection: ServerConnection, request: Request) -> Response:
        response = connection.respond(HTTPStatus.OK, "")
        is_compressed = any("gzip" in accepted for accepted in request.headers.get_all("Accept-Encoding"))
        response.body = self.page.compressed if is_compressed else self.page.plain
        for name, value in {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Length": str(len(response.body)),
            "Content-Encoding": "gzip" if is_compressed else "identity",
        }.items():
            _set_header(response, name, value)
        return response

    def _answer(self, response: Response, welcome: bool = False) -> Response:
        for name, value in {**HEADERS, "Content-Security-Policy": self.page.policy}.items():
            _set_header(response, name, value)
        if welcome and self.token is not None:
            response.headers["Set-Cookie"] = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        return response


def _set_header(response: Response, name: str, value: str) -> None:
    if name in response.headers:
        del response.headers[name]
    response.headers[name] = value


def _is_page(request: Request) -> bool:
    return request.path.partition("?")[0] in ("/", "/index.html")


def _name_of(host: str) -> str:
    """The name in a Host header, without the port; empty where there is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


@contextmanager
def guarded_start(guard: Guard, listener: socket.socket) -> Iterator[None]:
    """Let the viser server that starts inside listen on this socket, behind the guard.

    viser has no hook for requests; its only call of websockets' `serve` is the place. A server that would start
    without the guard is an error here.
    """
    from websockets.asyncio import server as websockets_server

    serve = websockets_server.serve
    guarded: list[bool] = []

    def guarded_serve(handler: Any, *place: Any, process_request: Any = None, **options: Any) -> Any:
        if getattr(handler, "__module__", "") != "viser.infra._infra":  # another thread's server
            return serve(handler, *place, process_request=process_request, **options)
        guarded.append(True)
        options |= {"create_connection": guard.connection(), "logger": LOG}
        return serve(handler, sock=listener, process_request=guard.around(process_request), **options)

    with _STARTING:
        websockets_server.serve = guarded_serve  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            websockets_server.serve = serve  # type: ignore[misc]
    if not guarded:
        raise RuntimeError("viser has started its server in another way than this version of chainrule knows")


def limit_uploads(client: Any, most_bytes: int, refuse: Callable[[str], None]) -> None:
    """Drop uploads of a tab that are, or become, larger than `most_bytes`, or more than one at a time.

    viser keeps the parts of an upload in memory until the last has come, however many a page sends. Handlers run one
    after the other, on the server's event loop, after viser's own.
    """
    from viser import _messages as messages

    connection, uploads = client._websock_connection, client.gui._current_file_upload_states

    def check(transfer: str) -> None:
        state = uploads.get(transfer)
        if state is None:
            return
        if max(state["total_bytes"], state["transferred_bytes"]) > most_bytes:
            reason = f"{state['filename']!r} is larger than {most_bytes >> 20} MiB, the most that can be uploaded."
        elif len(uploads) > 1:
            reason = "Another upload is under way: one file at a time, please."
        else:
            return
        uploads.pop(transfer, None)
        refuse(reason)

    for kind in (messages.FileTransferStartUpload, messages.FileTransferPart):
        connection.register_handler(kind, lambda _, message: check(message.transfer_uuid))


def check_values(client: Any) -> None:
    """Drop values that no control of the page can have: viser hands on whatever a message holds.

    Another attribute than the value, an option that a control does not offer, numbers that are not finite, values of
    another type, and texts without end come from no page, or from one that was drawn anew in between.
    """
    from viser import _messages as messages

    gui, connection = client.gui, client._websock_connection
    update = gui._handle_gui_updates

    async def check(number: int, message: Any) -> None:
        control = gui._gui_input_handle_from_uuid.get(message.uuid)
        values = message.updates
        if control is not None and set(values) == {"value"} and is_offered(control._impl, values["value"]):
            await update(number, message)

    connection.unregister_handler(messages.GuiUpdateMessage, update)
    connection.register_handler(messages.GuiUpdateMessage, check)


def is_offered(control: Any, value: Any) -> bool:
    """Whether a control of the page, as viser keeps it, can have a value."""
    options = getattr(control.props, "options", None)
    if options is not None:
        return isinstance(value, str) and value in options
    known = control.value
    if isinstance(known, tuple):
        return isinstance(value, (list, tuple)) and len(value) == len(known) and all(map(_is_finite, value))
    if isinstance(known, bool):
        return isinstance(value, bool)
    if isinstance(known, str):
        return isinstance(value, str) and len(value) <= MAX_TEXT
    return isinstance(known, (int, float)) and _is_finite(value)


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) < MAX_NUMBER
