"""Who may talk to the server: hosts, origins, tokens; and what a page can do to it."""

import http.client
import socket
import sys
import threading
from collections import deque
from contextlib import closing

import pytest
from waiting import eventually

import chainrule as cr
from chainrule.errors import ChainruleError, MissingPackageError
from chainrule.studio import open_studio

pytest.importorskip("viser", reason="the extra `studio` is not installed")

from websockets.exceptions import InvalidStatus


@pytest.fixture(scope="module")
def studio(start_studio):
    return start_studio("pendulum")


@pytest.fixture(scope="module")
def guarded(start_studio):
    return start_studio("pendulum", token=True)


def get(studio, path="/", host=None, **headers):
    """The status, the text and the headers of an answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", studio.port)) as connection:
        connection.putrequest("GET", path, skip_host=True)
        for name, value in {"Host": host or f"127.0.0.1:{studio.port}", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace"), answer.headers


def websocket(studio, path="/", **options):
    import viser
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    address = f"ws://127.0.0.1:{studio.port}{path}"
    return connect(address, subprotocols=[Subprotocol(f"viser-v{viser.__version__}")], open_timeout=None, **options)


def websocket_status(studio, path="/", **options):
    """The status of the refusal, or 101 for a websocket that is opened."""
    try:
        with websocket(studio, path, **options):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


# --- on the loopback -----------------------------------------------------------------------------------------------


def test_the_page_comes_with_headers_that_protect_it(studio):
    status, text, headers = get(studio)
    assert status == 200
    assert "<html" in text
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert "unsafe-inline" not in headers["Content-Security-Policy"].partition("script-src")[2].partition(";")[0]
    assert "<title>chainrule studio</title>" in text
    assert get(studio, **{"Accept-Encoding": "gzip"})[2]["Content-Encoding"] == "gzip"
    assert headers["Set-Cookie"] is None
    assert websocket_status(studio) == 101


@pytest.mark.parametrize("host", ["localhost:{}", "127.0.0.1", "127.0.0.2:{}", "[::1]:{}", "localhost:9000"])
def test_names_of_the_loopback_are_served(studio, host):
    assert get(studio, host=host.format(studio.port))[0] == 200


@pytest.mark.parametrize("host", ["evil.example:{}", "evil.example", "127.0.0.1.evil.example:{}", "[", "0.0.0.0:{}"])
def test_other_names_that_lead_here_are_refused(studio, host):
    status, text, _ = get(studio, host=host.format(studio.port))
    assert status == 403
    assert text == "This page is served to this machine alone: open it as http://127.0.0.1.\n"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost", "file://"]
)
def test_websockets_of_other_sites_are_refused(studio, origin):
    assert websocket_status(studio, origin=origin) == 403
    assert get(studio, Origin=origin)[0] == 403


def test_the_page_itself_may_open_a_websocket(studio):
    assert websocket_status(studio, origin=f"http://127.0.0.1:{studio.port}") == 101


@pytest.mark.parametrize("path", ["/?websocket=ws://evil.example", "/?playbackPath=http://evil.example/a.viser"])
def test_the_page_takes_no_other_server(studio, path):
    assert get(studio, path)[:2] == (403, "The studio's page connects to its own server only.\n")


@pytest.mark.parametrize(
    "path", ["//[", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/..\\..\\x"]
)
def test_files_of_the_server_are_not_served(studio, path):
    status, text, _ = get(studio, path)
    assert status == 404
    assert "root:" not in text


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/" + "a" * 7000, 414, "more than 2000 letters"),
        ("/?x=" + "a" * 7000, 414, "more than 2000 letters"),
        ("/" + "a" * 300, 404, "no such file"),  # longer than any file's name may be
        ("/a%00b", 404, ""),
    ],
)
def test_paths_that_no_file_has_get_a_plain_answer(studio, path, status, words):
    answer = get(studio, path)
    assert answer[0] == status
    assert words in answer[1]
    assert answer[2]["X-Content-Type-Options"] == "nosniff"
    assert "default-src" in answer[2]["Content-Security-Policy"]


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET /" + b"a" * 9000 + b" HTTP/1.1",
        b"GET /a b HTTP/1.1",
        b"POST / HTTP/1.1",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 9000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n",  # the first bytes of https://
    ],
    ids=["9000 letters", "blank", "POST", "long header", "https"],
)
def test_what_is_no_request_gets_a_plain_answer_and_leaves_no_traceback(studio, request_line, caplog):
    with closing(socket.create_connection(("127.0.0.1", studio.port))) as connection:
        connection.sendall(request_line + f"\r\nHost: 127.0.0.1:{studio.port}\r\n\r\n".encode())
        answer = connection.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 400 Bad Request\r\n")
    assert "X-Content-Type-Options: nosniff" in answer
    assert answer.count("This is no request of a page") == 1
    assert get(studio)[0] == 200
    assert [record.getMessage() for record in caplog.records] == []


def test_a_connection_that_is_closed_at_once_leaves_no_traceback(studio, caplog):
    socket.create_connection(("127.0.0.1", studio.port)).close()
    assert get(studio)[0] == 200
    assert [record.getMessage() for record in caplog.records] == []


def test_tabs_that_open_at_once_are_as_many_as_may_be(start_studio, monkeypatch):
    monkeypatch.setattr("chainrule.studio.guard.MAX_TABS", 3)
    studio = start_studio("pendulum")
    everyone, found = threading.Barrier(12), []

    def open_tab():
        everyone.wait()
        try:
            with websocket(studio):
                found.append(101)
                everyone.wait()  # no tab is closed before all have asked
        except InvalidStatus as refused:
            found.append(refused.response.status_code)
            everyone.wait()

    threads = [threading.Thread(target=open_tab) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [101] * 3 + [503] * 9
    eventually(lambda: websocket_status(studio) == 101)


def test_two_hosts_in_one_request_are_refused(studio):
    with closing(socket.create_connection(("127.0.0.1", studio.port))) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n")
        assert b" 400 " in connection.recv(200).split(b"\r\n")[0]


def test_nonsense_ends_its_own_connection_only(studio):
    from websockets.exceptions import ConnectionClosed

    for nonsense in (b"\x00" * 100, b"\xff\xfe" + bytes(range(256))):
        with websocket(studio) as connection:
            connection.send(nonsense)
            with pytest.raises(ConnectionClosed):
                deque(connection, maxlen=0)
    assert websocket_status(studio) == 101


def test_no_page_can_make_the_server_public(studio, caplog):
    import msgspec

    with websocket(studio) as connection:
        connection.send(msgspec.msgpack.encode({"type": "ShareUrlRequest"}))
        eventually(lambda: "public address" in caplog.text)
    assert studio.server._share_tunnel is None


# --- with a token --------------------------------------------------------------------------------------------------


def test_without_the_token_neither_page_nor_websocket(guarded):
    for path in (
        "/",
        "/?token=",
        "/?token=wrong",
        f"/?token={guarded.token[:-1]}",
        f"/?token={guarded.token}x",
        "/?token=%ff",
    ):
        status, text, headers = get(guarded, path)
        assert status == 403
        assert text == "This page needs its token: open the address that `chainrule studio` printed.\n"
        assert headers["Set-Cookie"] is None
        assert websocket_status(guarded, path) == 403
    wrong = {"Cookie": f"chainrule_studio_{guarded.port}=wrong"}
    assert get(guarded, **wrong)[0] == 403
    assert websocket_status(guarded, additional_headers=wrong) == 403
    assert websocket_status(guarded, additional_headers={"Cookie": 'a="; b=["'}) == 403


def test_the_token_opens_the_page_which_keeps_it_as_a_cookie(guarded):
    assert guarded.address == f"http://127.0.0.1:{guarded.port}/?token={guarded.token}"
    status, _, headers = get(guarded, f"/?token={guarded.token}")
    assert status == 200
    assert headers["Set-Cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    cookie = {"Cookie": headers["Set-Cookie"].partition(";")[0]}
    assert get(guarded, **cookie)[0] == 200
    assert websocket_status(guarded, additional_headers=cookie) == 101
    assert websocket_status(guarded, additional_headers=cookie, origin="https://evil.example") == 403


def test_with_a_token_the_page_has_other_names_too(guarded):
    assert get(guarded, f"/?token={guarded.token}", host=f"robots.example:{guarded.port}")[0] == 200


def test_tokens_are_long_and_never_the_same(start_studio, guarded):
    assert len(guarded.token) == 32
    kept = start_studio("pendulum", token="a-token-that-a-restart-keeps")
    assert kept.address.endswith("/?token=a-token-that-a-restart-keeps")
    for wrong in ("short", "a token with spaces", "a;token;with;semicolons", "ä" * 20):
        with pytest.raises(ChainruleError, match="a token has at least 16 letters, digits, - or _"):
            open_studio("pendulum", port=0, token=wrong)


@pytest.mark.slow
def test_the_browser_needs_the_token(guarded, tab, open_tab):
    tab.page.goto(f"http://127.0.0.1:{guarded.port}/")
    tab.says("This page needs its token")
    other = open_tab()
    other.page.goto(f"http://127.0.0.1:{guarded.port}/?token={'x' * 32}")
    other.says("This page needs its token")
    tab.open(guarded.address)
    tab.page.goto(f"http://127.0.0.1:{guarded.port}/")
    tab.connected()


# --- where it listens ----------------------------------------------------------------------------------------------


def test_other_machines_are_let_in_with_a_token_only(start_studio):
    open_to_all = start_studio("pendulum", host="0.0.0.0")
    assert open_to_all.token is not None
    assert open_to_all.is_local is False
    assert open_to_all.address.startswith("http://127.0.0.1:")
    assert open_to_all.outside_address.endswith(f":{open_to_all.port}/?token={open_to_all.token}")
    assert get(open_to_all)[0] == 403
    with pytest.raises(ChainruleError, match=r"on 0\.0\.0\.0 whoever is on the network could use the studio"):
        open_studio("pendulum", host="0.0.0.0", port=0, token=False)


def test_it_listens_on_the_loopback_unless_told_otherwise(studio):
    assert studio.is_local
    assert studio.token is None
    assert studio.outside_address is None
    if sys.platform == "linux":  # where 127.0.0.2 is this machine too, by another address
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", studio.port))


def test_a_port_that_is_taken(studio, monkeypatch):
    with pytest.raises(ChainruleError, match=f"port {studio.port} is taken by another program, perhaps another studio"):
        open_studio("pendulum", port=studio.port)
    monkeypatch.setattr("chainrule.studio.server.DEFAULT_PORT", studio.port)
    with open_studio("pendulum") as other:
        assert other.port not in (studio.port, 0)
        assert get(other)[0] == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"host": "no.such.host.invalid"}, "there is no host 'no.such.host.invalid' to listen on"),
        ({"host": "192.0.2.1"}, "cannot listen on 192.0.2.1, port 0: "),
        ({"port": 70000}, "a port is a whole number from 0 to 65535, got 70000"),
        ({"port": "8080"}, "a port is a whole number from 0 to 65535, got '8080'"),
    ],
)
def test_places_where_it_cannot_listen(options, message):
    with pytest.raises(ChainruleError) as refused:
        open_studio("pendulum", **{"port": 0, **options})
    assert message in str(refused.value)


def test_other_websocket_servers_are_left_alone(studio):
    """The guard is put around viser's server while that starts, not around whatever else there is."""
    from websockets.asyncio import server as websockets_server

    before = websockets_server.serve
    with open_studio("pendulum", port=0):
        assert websockets_server.serve is before


def test_closing_frees_the_port_and_the_threads():
    before = set(threading.enumerate())
    studio = open_studio("pendulum", port=0)
    studio.close()
    eventually(lambda: set(threading.enumerate()) <= before)
    with closing(socket.socket()) as again:
        again.bind(("127.0.0.1", studio.port))


def test_a_page_of_viser_that_is_made_otherwise_is_refused(monkeypatch):
    monkeypatch.setattr("chainrule.studio.policy.INNER_SCRIPT", "of another version")
    with pytest.raises(RuntimeError, match="the page of this version of viser is made in another way"):
        open_studio("pendulum", port=0)


def test_without_viser_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingPackageError, match="the studio needs the package viser"):
        open_studio(cr.load("pendulum"))
