"""Simulate: let the robot go or hold it with a controller, push it, look back, and compare rollouts."""

from __future__ import annotations

from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.core.derived import has_moving_mass
from chainrule.core.evaluation import require
from chainrule.studio.charts.style import STYLE, message
from chainrule.studio.panels.panel import Panel
from chainrule.studio.player.charts import MotionCharts
from chainrule.studio.player.laws import RELEASED, description, usable_laws
from chainrule.studio.player.live import LIMITS, Sample, Settings
from chainrule.studio.player.recorder import Recorder
from chainrule.studio.player.rollouts import MAX_DURATION_S, MAX_ROLLOUTS, VARIATIONS, RolloutVariant, vary
from chainrule.studio.player.sources import LiveSource, Pull, RecordedSource
from chainrule.studio.player.transport import Transport
from chainrule.studio.scene.ghosts import Ghosts, color

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

CHARTS_A_SECOND = 8.0

FALLS = (
    "Nothing holds the base of this robot, and there is no floor: it falls. Without gravity it stays (Dynamics, "
    "Gravity, payload, friction: None)."
)
"""The note for robots with a free base."""

PUSH_N = 20.0
"""The force of a push at first."""


class SimulationPanel(Panel):
    """The robot under a controller, in real time."""

    title = "Simulate"
    icon = "player-play"

    def suits(self, robot: Robot) -> bool:
        """Whether there are joints that move masses."""
        return robot.nv > 0 and has_moving_mass(robot)

    def draws(self, session: Session) -> bool:
        """Whether the robot moves by it, or ghosts are in the scene."""
        return self._is_bound or self.transport.playing or self.ghosts is not None

    def build(self, session: Session) -> None:
        """Make the controls."""
        self.session = session
        self.ghosts: Ghosts | None = None
        self._charts_due = 0.0
        self._knows_laws = self._is_bound = False
        require(session.robot, "forward_dynamics")
        self.live = LiveSource(session, self.settings)
        self.transport = Transport(session, self.live)
        self.recorder = Recorder(session, self.transport)
        self._build_law()
        self.transport.build(key="P")
        gui, guarded = session.client.gui, session.guarded
        if falls(session.robot):
            gui.add_html(STYLE)
            gui.add_html(message(FALLS))
        self.restart = gui.add_button("Start from here", icon="restore", hint="Forget the past; start from this pose.")
        self.restart.on_click(guarded(lambda _: self.start_again()))
        self.numbers = gui.add_markdown(_numbers(None))
        with gui.add_folder("Push", expand_by_default=True):
            self._build_push()
        self.curves = gui.add_folder("Energy and torques", expand_by_default=True, visible=False)
        with self.curves:
            self.charts = MotionCharts(gui, session.robot)
        with gui.add_folder("Rollouts as ghosts", expand_by_default=False):
            self._build_rollouts()
        with gui.add_folder("Pictures", expand_by_default=False):
            self.recorder.build()

    # --- the law ---

    def _build_law(self) -> None:
        gui, guarded = self.session.client.gui, self.session.guarded
        self.law = gui.add_dropdown("Controller", (RELEASED,), hint="It holds the robot where it is when it starts.")
        self.about = gui.add_markdown(description(self.law.value))
        self.law.on_update(guarded(lambda _: self._describe()))
        self.bandwidth = gui.add_number(
            "Bandwidth (Hz)", 2.0, min=0.1, max=20.0, step=0.1, hint="Of the gains: higher is stiffer."
        )
        self.limits = gui.add_dropdown("Joint limits", LIMITS, hint="What a joint meets at the end of its range.")

    def _describe(self) -> None:
        self.about.content = description(self.law.value)

    def settings(self) -> Settings:
        """The law and its numbers, as the controls say."""
        return Settings(self.law.value, float(self.bandwidth.value), self.limits.value)

    def start_again(self) -> None:
        """Forget the motion; the next one starts from the pose on the page, at rest."""
        self.transport.pause()
        self._remove_ghosts()
        self.live.forget()
        self.session.move(qd=np.zeros(self.session.robot.nv), qdd=np.zeros(self.session.robot.nv), time=0.0)
        self.transport.load(self.live)

    # --- pushes ---

    def _build_push(self) -> None:
        gui, guarded, links = self.session.client.gui, self.session.guarded, self.session.robot.link_names[1:]
        self.link = gui.add_dropdown("On link", links, initial_value=links[-1])
        self.force = gui.add_vector3("Force (N)", (PUSH_N, 0.0, 0.0), step=1.0, hint="In the axes of the world.")
        self.moment = gui.add_vector3("Moment (N m)", (0.0, 0.0, 0.0), step=1.0, hint="In the axes of the world.")
        self.seconds = gui.add_number("For (s)", 0.3, min=0.01, max=60.0, step=0.01)
        button = gui.add_button("Push", icon="hand-finger", hint="While it runs, or as soon as it does.")
        button.on_click(guarded(lambda _: self.push()))

    def push(self) -> None:
        """Let the wrench of the controls act on the chosen link for a while."""
        wrench = np.array([*self.moment.value, *self.force.value], dtype=float)
        self.live.push(self.link.value, wrench, float(self.seconds.value), self.transport.clock.time)

    # --- rollouts ---

    def _build_rollouts(self) -> None:
        gui, guarded = self.session.client.gui, self.session.guarded
        self.variation = gui.add_dropdown("What differs", VARIATIONS)
        self.count = gui.add_slider("How many", 2, MAX_ROLLOUTS, 1, 5)
        self.amount = gui.add_number(
            "By up to", 0.3, min=0.0, max=100.0, step=0.05, hint="rad or m for starts, kg for payloads."
        )
        self.duration = gui.add_number("Duration (s)", 4.0, min=0.1, max=MAX_DURATION_S, step=0.1)
        both = gui.add_button_group("Rollouts", ("Compute", "Remove"))
        both.on_click(guarded(lambda _: self.compute() if both.value == "Compute" else self.start_again()))
        self.legend = gui.add_html("")

    def compute(self) -> None:
        """Simulate the rollouts from the pose on the page, and play them."""
        self.transport.pause()
        state = self.session.state
        found = vary(
            self.session.robot, state.q, state.qd, self.settings(), self.variation.value, count=int(self.count.value),
            amount=float(self.amount.value), duration=float(self.duration.value), parameters=state.parameters,
        )  # fmt: skip
        self._remove_ghosts()
        motions = [rollout.motion for rollout in found]
        self.ghosts = Ghosts(self.session.client.scene, self.session.robot, motions[1:], "/ghosts/rollout")
        self.legend.content = legend(found)
        self.transport.load(RecordedSource(self.session, motions))
        self.transport.play()

    def _remove_ghosts(self) -> None:
        if self.ghosts is not None:
            self.ghosts.remove()
        self.ghosts, self.legend.content = None, ""

    # --- the page ---

    def update(self, session: Session) -> None:
        """Show the moment: its time and energies, curves, and ghosts."""
        if not self._knows_laws:  # making them compiles their gains
            self.law.options, self._knows_laws = usable_laws(session.robot), True
        if self.ghosts is not None:
            self.ghosts.move(self.transport.clock.time)
        self._bind(session, self.transport.playing and self.transport.source is self.live)
        live = self.live.live if self.transport.source is self.live else None
        if live is not None and (monotonic() >= self._charts_due or not self.transport.playing):
            self._charts_due = monotonic() + 1 / CHARTS_A_SECOND
            self.charts.draw(live)
            self.curves.visible = True
            self.numbers.content = _numbers(live.at(self.transport.clock.time))
        elif self.ghosts is not None:
            self.numbers.content = f"{1 + len(self.ghosts)} rollouts, t = {self.transport.clock.time:.2f} s"
        self.transport.update()

    # --- the hand ---

    def _bind(self, session: Session, is_bound: bool) -> None:
        """Let bodies be dragged while the simulation plays; at other times a drag turns the camera."""
        if is_bound != self._is_bound:
            self._is_bound, self.live.pull = is_bound, None
            session.drawn.drag_by(session.guarded(self._pull, work=None) if is_bound else None)

    def _pull(self, link: str, event: Any) -> None:
        """Pull at the point of a link that was grabbed, towards where the hand is."""
        if event.phase == "end" or not self.transport.playing:
            self.live.pull = None
            return
        pull, hand = self.live.pull, np.array(event.end_position, dtype=float)
        if event.phase == "start" or pull is None or pull.link != link:
            robot = self.session.robot
            T = self.session.poses[robot.link_names.index(link)]
            pull = Pull(link, T[:3, :3].T @ (np.array(event.start_position, dtype=float) - T[:3, 3]), hand)
        self.live.pull = pull._replace(hand=hand)

    def close(self) -> None:
        """End the threads, and remove the ghosts."""
        self.transport.close()
        self.recorder.close()
        if self.ghosts is not None:
            self.ghosts.remove()


def falls(robot: Robot) -> bool:
    """Whether gravity moves a base that nothing holds."""
    return bool(robot.gravity.any()) and any(places.joint.type == "free" for places in robot.model.layout.joints)


def _numbers(sample: Sample | None) -> str:
    """Time and energies of a moment, as a line of text."""
    if sample is None:
        return "Not started: press Play."
    total = sample.kinetic + sample.potential
    return (
        f"t = {sample.time:.3f} s, kinetic {sample.kinetic:.4g} J, potential {sample.potential:.4g} J, "
        f"total {total:.4g} J"
    )


def legend(rollouts: list[RolloutVariant]) -> str:
    """The labels of rollouts in their colors, as HTML; the first one is the robot itself."""
    lines = [f"<b>{escape(rollouts[0].label)}</b> (solid)"]
    for k, rollout in enumerate(rollouts[1:]):
        lines.append(f'<span style="color: rgb{color(k)}">&#9632;</span> {escape(rollout.label)}')
    return '<div style="padding: 0 1em; font-size: 0.85em">' + "<br>".join(lines) + "</div>"
