"""The panels of the page, in the order of its tabs."""

from __future__ import annotations

from chainrule.studio.panels.doctor import Doctor
from chainrule.studio.panels.ellipsoids import Ellipsoids
from chainrule.studio.panels.equations import Equations
from chainrule.studio.panels.joints import Joints
from chainrule.studio.panels.mass_matrix import MassMatrix
from chainrule.studio.panels.motion import Motion
from chainrule.studio.panels.open import Open
from chainrule.studio.panels.panel import Panel
from chainrule.studio.panels.push import Push
from chainrule.studio.panels.replay import Replay
from chainrule.studio.panels.simulation import Simulation
from chainrule.studio.panels.tip import Tip
from chainrule.studio.panels.torques import Torques
from chainrule.studio.panels.view import View
from chainrule.studio.panels.wheels import Wheels
from chainrule.studio.panels.world import World

PANELS: list[type[Panel]] = [
    Joints,
    Tip,
    View,
    Torques,
    Motion,
    Push,
    World,
    MassMatrix,
    Ellipsoids,
    Simulation,
    Replay,
    Wheels,
    Equations,
    Doctor,
    Open,
]
