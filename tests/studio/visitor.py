"""A tab without a browser: it speaks viser's protocol, says where its camera is, and reads whatever comes."""

import threading

CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (3.0, 0.0, 1.0), "fov": 0.8, "near": 0.01,
    "far": 100.0, "image_height": 720, "image_width": 1280, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip


class Visitor:
    """One connection; `received` counts bytes."""

    def __init__(self, studio):
        import viser
        from websockets.sync.client import connect
        from websockets.typing import Subprotocol

        self.received = 0
        protocol = Subprotocol(f"viser-v{viser.__version__}")
        address = f"ws://127.0.0.1:{studio.port}/"
        self._connection = connect(address, subprotocols=[protocol], max_size=None, open_timeout=None)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.send(CAMERA)

    def send(self, message):
        """Send a message of the page."""
        import msgspec

        self._connection.send(msgspec.msgpack.encode(message))

    def _read(self):
        from websockets.exceptions import ConnectionClosed

        try:
            for message in self._connection:
                self.received += len(message)
        except ConnectionClosed:
            pass

    def close(self):
        """Close the tab."""
        self._connection.close()
        self._reader.join()
