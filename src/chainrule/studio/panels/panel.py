"""A panel: one subject on the page, with its controls and what it draws in the scene.

How to add a panel: subclass `Panel` in a file of its own, and add a line to PANELS in `panels/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session


class Panel:
    """One subject on the page. A session makes its own, and makes a new one for another robot."""

    title: str = ""
    tab: str = ""
    """The tab in which the panel is a folder among others; a tab of its own, with its title, where empty."""
    icon: str | None = None
    """The name of an icon of viser (Tabler) for the tab, taken from the first panel in it: "adjustments"."""
    open: bool = True
    """Whether the folder of a panel in a shared tab is open at first."""
    rate: float = 60.0
    """Updates a second at most; charts and texts need fewer. The last state is always drawn."""

    def suits(self, robot: Robot) -> bool:
        """Whether the panel makes sense for a robot; those that do not are left out, and tabs without panels too."""
        return True

    def draws(self, session: Session) -> bool:
        """Whether it draws something in the scene now, and is updated while another tab is looked at."""
        return False

    def build(self, session: Session) -> None:
        """Make controls in session.client.gui, in the container that is open, and nodes in session.client.scene.

        All panels are built before the page answers: what compiles belongs into the first `update`, which comes when
        the panel is first looked at.

        Callbacks go through `session.guarded`. They run on viser's threads, perhaps several at once and out of order:
        read the values of controls in them, not those of the event. `session.move(..., by=self)` changes the state.
        A control that `update` sets as well is an `Input` of inputs.py.
        """

    def update(self, session: Session) -> None:
        """Show the present state: on the session's thread, within one message to the page.

        Assigning to a property of a viser handle sends nothing where the value is the same. Take `session.state` once:
        it may be another one at the next line. `session.poses` has the poses of all links.
        """

    def close(self) -> None:
        """Remove nodes from the scene, and end what the panel has started. Its controls are removed with its tab."""


def by_user(session: Session, callback: Callable[[], Any]) -> Callable[[Any], Any]:
    """A guarded callback of a control for changes that the user makes, not for those that the program makes.

    viser calls callbacks in both cases: setting a slider to the state in `update` would change the state again.
    """
    return session.guarded(lambda event: None if event.client is None else callback())
