"""`chainrule studio`: a page in the browser where a robot's dynamics can be seen and touched."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from chainrule.cli.console import PositiveNumber, command, echo, json_option, print_json, robot_options

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.server import Studio

MAX_PORT = 65535


@command(
    "chainrule studio",
    "chainrule studio ur5 --port 8090",
    "chainrule studio planar_2r --no-browser --json   # for a program that opens the page itself",
    codes={"0": "ended by Ctrl-C, or by --seconds", "130": "interrupted by Ctrl-C before the page was there"},
)
@click.option(
    "--port", type=click.IntRange(0, MAX_PORT), help="The port of the page; 8080 or the next free one if left out."
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser, or only print its address.")
@click.option(
    "--host", default="127.0.0.1", show_default=True,
    help="The address to listen on; 0.0.0.0 lets other machines in, with a token.",
)  # fmt: skip
@click.option("--token", is_flag=True, help="Ask for a token on this machine too, which may have other users.")
@click.option("--seconds", type=PositiveNumber("seconds"), help="End by itself after this time.")
@json_option
@partial(robot_options, default="panda")
def studio(
    robot: Robot, port: int | None, browser: bool, host: str, token: bool, seconds: float | None, as_json: bool
) -> None:
    """Open a page in the browser where a robot can be moved and its dynamics seen. It ends by Ctrl-C.

    The page is served to this machine alone, unless --host says otherwise. Then everybody who has the address that is
    printed, with its token, can use it.
    """
    from chainrule.studio import open_studio

    with (
        open_studio(robot, host=host, port=port, browser=browser, token=token or None) as opened,
        _end_by_signal() as ended,
    ):
        if as_json:
            print_json({"robot": robot.name, "address": opened.address, "port": opened.port, "token": opened.token})
        else:
            _greet(opened, port)
        ended.wait(seconds)
    if not as_json:
        echo("the studio has ended")


def _greet(studio: Studio, port: int | None) -> None:
    """Print where the page is."""
    from chainrule.studio.server import DEFAULT_PORT

    if port is None and studio.port != DEFAULT_PORT:
        echo(f"port {DEFAULT_PORT} is taken, so this is port {studio.port}")
    echo(f"the studio is at {studio.address}")
    if studio.outside_address is not None:
        echo(f"from other machines it is {studio.outside_address}")
    echo("Ctrl-C ends it")


@contextmanager
def _end_by_signal() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set, in place of what they did before."""
    event = threading.Event()
    before = {number: signal.signal(number, lambda *_: event.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
