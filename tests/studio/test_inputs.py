"""Controls that show the state and change it: what the user types is not lost, whenever the state is shown."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

import chainrule as cr
from chainrule.studio.inputs import GuardedControl
from chainrule.studio.panels.view import ViewPanel
from chainrule.studio.player.sources import RecordedSource
from chainrule.studio.player.transport import Transport
from chainrule.studio.session import Session

ARM = cr.load("planar_2r").reference


class Control:
    """A control as viser has it: callbacks run at once where the program assigns, and later where the user types."""

    def __init__(self, value):
        self._value, self._callbacks, self._waiting = value, [], []

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, new):
        if new != self._value:
            self._value = new
            self._call(None)

    def on_update(self, callback):
        self._callbacks.append(callback)

    def type(self, new):
        self._value = new
        self._waiting.append(new)

    def answer(self):
        self._waiting.pop(0)
        self._call("a tab")

    def _call(self, client):
        for callback in self._callbacks:
            callback(SimpleNamespace(client=client, target=self))


@pytest.fixture
def session():
    client = MagicMock(camera=MagicMock(image_width=1280, image_height=720))
    client._websock_connection.get_message_buffer().message_from_id = {}
    session = Session(client, ARM, [])
    yield session
    session.close()


def test_a_typed_value_outlives_the_state_that_is_shown_before_it_is_read(session):
    control, seen = Control(0.0), []
    number = GuardedControl(session, control, lambda: seen.append(number.value))
    control.type(0.5)
    number.show(0.1)
    control.answer()
    assert seen == [0.5]
    number.show(0.2)
    assert (control.value, seen) == (0.2, [0.5])
    number.value = 0.3
    number.show(0.4)
    assert (control.value, seen) == (0.4, [0.5])


def test_a_value_that_is_typed_while_another_is_answered_waits_for_its_own_answer(session):
    control, seen = Control(0.0), []

    def note():
        seen.append(control.value)
        if len(seen) == 1:
            control.type(0.7)

    number = GuardedControl(session, control, note)
    control.type(0.5)
    control.answer()
    number.show(0.1)
    control.answer()
    assert seen == [0.5, 0.7]


@pytest.mark.parametrize("puts_back", [True, False])
def test_after_a_refusal_the_state_is_shown_again(session, puts_back):
    control = Control(0.0)

    def refuse():
        if puts_back:
            number.value = 0.0
        raise cr.ChainruleError("too far")

    number = GuardedControl(session, control, refuse)
    control.type(9.0)
    control.answer()
    assert session.client.add_notification.call_args.args[1] == "too far"
    number.show(0.1)
    assert control.value == 0.1


def test_a_time_that_is_typed_while_the_controls_are_drawn_is_gone_to(session):
    clock = Control(0.0)
    clock.min, clock.max = 0.0, 1.0
    session.client.gui.add_slider = lambda *_: clock
    transport = Transport(session, RecordedSource(session, []))
    transport.build()
    swing = ARM.simulate([0.3, 0.4], None, 0.5, dt=0.01)
    transport.load(RecordedSource(session, [swing]))
    clock.type(0.255)
    transport.update()
    clock.answer()
    assert session.state.time == 0.255
    np.testing.assert_allclose(session.state.q, swing.resample([0.255]).q[0])


def test_the_page_turns_dark_though_a_picture_is_drawn_meanwhile(session):
    view, switches = ViewPanel(), {}

    def add(label, value, **_):
        return switches.setdefault(label, Control(value))

    session.client.gui.add_checkbox = add
    view.build(session)
    switches["Dark"].type(True)
    view.update(session)
    switches["Dark"].answer()
    assert session.dark
