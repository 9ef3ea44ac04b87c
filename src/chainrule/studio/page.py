"""The few things of a page that viser has no public name for, in one place."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viser import ClientHandle, InitialCameraConfig

PATIENCE = 2.0
"""Seconds to wait for messages to be sent; a page that takes longer is gone, or shows something odd for a moment."""


def first_camera_of(client: ClientHandle) -> InitialCameraConfig:
    """The camera of the first view of one tab, to which the page's own button leads back."""
    from viser import InitialCameraConfig

    return InitialCameraConfig(broadcast=client._websock_connection.queue_message)


def is_gone(client: ClientHandle) -> bool:
    """Whether a tab is closed, so that nothing sent to it arrives."""
    return client._websock_connection.get_message_buffer().done is True


def is_removed(node: Any) -> bool:
    """Whether a node of the scene has been removed, perhaps together with its parent."""
    return bool(node._impl.removed)


def wait_until_sent(client: ClientHandle) -> None:
    """Wait until all messages to a tab have been sent.

    A node that is removed and made again under the same name in one message keeps its old place on the page: viser
    leaves the removal out. So removals are sent first.
    """
    waiting = client._websock_connection.get_message_buffer().message_from_id
    end = monotonic() + PATIENCE
    while waiting and monotonic() < end:
        client.flush()
        sleep(0.005)
