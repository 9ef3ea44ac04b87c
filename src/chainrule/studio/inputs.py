"""Controls that show the state and also change it: a value of the user is not lost when the state is shown.

viser keeps the value that the user gave in the control, and calls back later, on another thread. If the program set the
control to the old state in between, the callback would read that instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainrule.studio.session import Session


class GuardedControl:
    """A control of viser, and a guarded callback for values of the user."""

    def __init__(self, session: Session, control: Any, callback: Callable[[], Any]) -> None:
        self.control = control
        self._callback = session.guarded(lambda _: callback())
        self._known = control.value
        """The value that the program has set or answered to; another one is new from the user."""
        control.on_update(self._answer)

    @property
    def value(self) -> Any:
        """The value of the control. Assigning to it replaces it, even where the user has just given another one."""
        return self.control.value

    @value.setter
    def value(self, value: Any) -> None:
        self.control.value = value
        self._known = self.control.value

    def show(self, value: Any) -> None:
        """Set the control to the state, unless the user has given it a value that is not yet answered to."""
        if self.control.value == self._known:
            self.value = value

    def _answer(self, event: Any) -> None:
        value = self.control.value
        self._callback(event)
        if self.control.value == value:  # neither put back by the callback, nor changed again by the user
            self._known = value
