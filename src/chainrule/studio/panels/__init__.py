"""The panels of the page, in the order of its tabs."""

from __future__ import annotations

from chainrule.studio.panels.about import AboutPanel
from chainrule.studio.panels.doctor import DoctorPanel
from chainrule.studio.panels.ellipsoids import EllipsoidsPanel
from chainrule.studio.panels.equations import EquationsPanel
from chainrule.studio.panels.joints import JointsPanel
from chainrule.studio.panels.mass_matrix import MassMatrixPanel
from chainrule.studio.panels.motion import MotionPanel
from chainrule.studio.panels.open import OpenPanel
from chainrule.studio.panels.panel import Panel
from chainrule.studio.panels.push import PushPanel
from chainrule.studio.panels.replay import ReplayPanel
from chainrule.studio.panels.simulation import SimulationPanel
from chainrule.studio.panels.tip import TipPanel
from chainrule.studio.panels.torques import TorquesPanel
from chainrule.studio.panels.view import ViewPanel
from chainrule.studio.panels.wheels import WheelsPanel
from chainrule.studio.panels.world import WorldPanel

PANELS: list[type[Panel]] = [
    JointsPanel,
    TipPanel,
    ViewPanel,
    TorquesPanel,
    MotionPanel,
    PushPanel,
    WorldPanel,
    MassMatrixPanel,
    EllipsoidsPanel,
    SimulationPanel,
    ReplayPanel,
    WheelsPanel,
    EquationsPanel,
    AboutPanel,
    DoctorPanel,
    OpenPanel,
]
