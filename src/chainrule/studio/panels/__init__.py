"""The panels of the page, in the order of its tabs."""

from __future__ import annotations

from chainrule.studio.panels.joints import Joints
from chainrule.studio.panels.panel import Panel
from chainrule.studio.panels.torques import Torques
from chainrule.studio.panels.view import View

PANELS: list[type[Panel]] = [
    Joints,
    View,
    Torques,
]
