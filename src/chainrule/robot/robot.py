"""The Robot: a table of contents. Each line lists a function that some other file defines.

What a textbook's chapter heading names, or a person does with a robot every day, is a method here; everything else is
in a subject, such as `robot.loops` (`robot/subjects/`). This class adds no state and overrides nothing, so that `help`,
`inspect.signature`, the type checker and "go to definition" all lead to the function itself. What needs heavy packages
is imported by the call.

How to add a function: declare it in the file of its subject (`core/declaration.py`), and list it here, or in the
subject's class.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ParamSpec

from chainrule.calls import explain_once, explains_arguments, explains_construction
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.lazy import EAGER, method, methods
from chainrule.model import Model
from chainrule.robot import building, parts, views

if TYPE_CHECKING or EAGER:
    from chainrule.bodies import distances
    from chainrule.bodies.robot_bodies import RobotBodies
    from chainrule.core import at
    from chainrule.doctor import diagnosis
    from chainrule.dynamics import derivatives, dynamics, energy, linearization
    from chainrule.frameworks.casadi import CasadiFunctions
    from chainrule.frameworks.jax import JaxFunctions
    from chainrule.frameworks.torch import TorchFunctions
    from chainrule.inverse_kinematics import solve
    from chainrule.kinematics import (
        capacity,
        configurations,
        manipulability,
        named_states,
        poses,
        singularities,
        velocities,
        workspace,
    )
    from chainrule.plots import animation, posture
    from chainrule.robot import comparison, editing, edits
    from chainrule.robot.subjects.analysis import Analysis
    from chainrule.robot.subjects.centroidal import Centroidal
    from chainrule.robot.subjects.compiled import Compiled
    from chainrule.robot.subjects.derivatives import Derivatives
    from chainrule.robot.subjects.ik import Ik
    from chainrule.robot.subjects.loops import Loops
    from chainrule.robot.subjects.parameters import Parameters
    from chainrule.robot.subjects.states import States
    from chainrule.robot.subjects.textbook import Textbook
    from chainrule.simulation import sensitivities, simulation
    from chainrule.simulation.simulate import simulate as simulate_motion
    from chainrule.symbolic.closed_form import answers, kinematics
    from chainrule.symbolic.closed_form.equations import equations as equations_of_motion
    from chainrule.symbolic.derivations import derivation
else:  # the same modules, imported when a function of theirs is first looked up, which then says what it takes
    methods, method = partial(methods, wrap=explain_once), partial(method, wrap=explain_once)
    distances = methods("chainrule.bodies.distances")
    at = methods("chainrule.core.at")
    diagnosis = methods("chainrule.doctor.diagnosis")
    derivatives = methods("chainrule.dynamics.derivatives")
    dynamics = methods("chainrule.dynamics.dynamics")
    energy = methods("chainrule.dynamics.energy")
    linearization = methods("chainrule.dynamics.linearization")
    solve = methods("chainrule.inverse_kinematics.solve")
    capacity = methods("chainrule.kinematics.capacity")
    configurations = methods("chainrule.kinematics.configurations")
    manipulability = methods("chainrule.kinematics.manipulability")
    named_states = methods("chainrule.kinematics.named_states")
    poses = methods("chainrule.kinematics.poses")
    singularities = methods("chainrule.kinematics.singularities")
    velocities = methods("chainrule.kinematics.velocities")
    workspace = methods("chainrule.kinematics.workspace")
    animation = methods("chainrule.plots.animation")
    posture = methods("chainrule.plots.posture")
    comparison = methods("chainrule.robot.comparison")
    editing = methods("chainrule.robot.editing")
    edits = methods("chainrule.robot.edits")
    sensitivities = methods("chainrule.simulation.sensitivities")
    simulation = methods("chainrule.simulation.simulation")
    simulate_motion = method("chainrule.simulation.simulate", "simulate")
    answers = methods("chainrule.symbolic.closed_form.answers")
    kinematics = methods("chainrule.symbolic.closed_form.kinematics")
    equations_of_motion = method("chainrule.symbolic.closed_form.equations", "equations")
    derivation = methods("chainrule.symbolic.derivations.derivation")

P = ParamSpec("P")


def _constructor(build: Callable[P, Model]) -> classmethod[Any, P, Robot]:
    """A class method that makes a robot of the model that `build` returns."""

    explained = explains_arguments(build)

    def make(cls: type[Robot], /, *arguments: P.args, **options: P.kwargs) -> Robot:
        return cls(explained(*arguments, **options))

    own = signature(build)
    first = Parameter("cls", Parameter.POSITIONAL_ONLY)
    make.__name__, make.__qualname__, make.__doc__ = build.__name__, f"Robot.{build.__name__}", build.__doc__
    make.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[first, *own.parameters.values()], return_annotation="Robot"
    )
    return classmethod(make)


class _KindOfRobot(type):
    """The class of Robot: names that Robot does not have lead to what there is."""

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(cls, name: str) -> Any:
            from chainrule.robot.advice import advice_on

            raise AttributeError(name) if name.startswith("_") else advice_on("chainrule", name, "the class Robot")


@explains_construction
class Robot(Mechanism, metaclass=_KindOfRobot):
    """A robot: an immutable model and the functions of its state.

    States are arrays whose last dimension is the joint's, `q` (..., nq) and `qd`, `qdd`, `tau` (..., nv); leading
    dimensions are a batch of the user's, and broadcast. SI units throughout. Spatial vectors have their angular
    part first, and are in base axes, at the origin of the link or frame, unless a `frame` is given.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.gravity_torque([0.0, 0.0]).round(3).tolist()
    [29.43, 9.81]
    """

    # --- from files and tables, and back: robot/building.py ---
    from_urdf = _constructor(building.from_urdf)
    from_mjcf = _constructor(building.from_mjcf)
    from_sdf = _constructor(building.from_sdf)
    from_dh = _constructor(building.from_dh)
    from_screws = _constructor(building.from_screws)
    save = explain_once(building.save)

    # --- its parts by name; what looks wrong with it; another robot beside it: parts.py, comparison.py, doctor/ ---
    links = property(parts.links)
    joints = property(parts.joints)
    frames = property(parts.frames)
    doctor = diagnosis.doctor
    compare = comparison.compare

    @property
    def bodies(self) -> RobotBodies:
        """The collision bodies of this robot, and the pairs of them that are checked."""
        from chainrule.bodies.robot_bodies import bodies_of

        return bodies_of(self)

    # --- edits, each a new robot: robot/editing.py, edits.py ---
    edit = editing.edit
    rename = editing.rename
    lock = edits.lock
    attach = edits.attach
    rebase = edits.rebase
    chain = edits.chain
    floating = edits.floating
    merge_fixed = edits.merge_fixed
    with_payload = edits.with_payload
    with_frame = edits.with_frame
    with_end_effector = edits.with_end_effector
    with_constraint = edits.with_constraint
    without_constraint = edits.without_constraint
    with_spring = edits.with_spring
    with_elastic_joints = edits.with_elastic_joints
    without_spring = edits.without_spring
    without_friction = edits.without_friction
    with_srdf = edits.with_srdf
    scale_masses = edits.scale_masses

    # --- views: core/at.py, robot/views.py ---
    at = at.at
    units = property(views.units)
    degrees = property(views.degrees)

    # --- states: kinematics/configurations.py, named_states.py ---
    neutral = configurations.neutral
    home = configurations.home
    random_state = configurations.random_state
    q = named_states.q
    qd = named_states.qd
    tau = named_states.tau
    integrate = configurations.integrate
    difference = configurations.difference

    # --- kinematics: kinematics/, inverse_kinematics/ ---
    pose = poses.pose
    jacobian = poses.jacobian
    jacobian_dot = poses.jacobian_dot
    jacobian_dq = poses.jacobian_dq
    poses = poses.poses
    velocity = velocities.velocity
    acceleration = velocities.acceleration
    accelerations = velocities.accelerations
    velocities = velocities.velocities
    inverse_kinematics = solve.inverse_kinematics
    manipulability = manipulability.manipulability
    singular_values = singularities.singular_values
    is_singular = singularities.is_singular
    workspace = workspace.workspace

    # --- distances from itself and from a world: bodies/ ---
    clearance = distances.clearance
    clearance_dq = distances.clearance_dq
    distances = distances.distances

    # --- statics and dynamics: dynamics/, kinematics/capacity.py ---
    static_torque = dynamics.static_torque
    balanced_wrench = capacity.balanced_wrench
    inverse_dynamics = dynamics.inverse_dynamics
    forward_dynamics = dynamics.forward_dynamics
    mass_matrix = dynamics.mass_matrix
    coriolis_matrix = dynamics.coriolis_matrix
    gravity_torque = dynamics.gravity_torque
    friction_torque = dynamics.friction_torque
    spring_torque = dynamics.spring_torque
    bias = dynamics.bias
    torque_terms = dynamics.torque_terms
    joint_wrenches = dynamics.joint_wrenches
    kinetic_energy = energy.kinetic_energy
    potential_energy = energy.potential_energy
    momentum = energy.momentum
    center_of_mass = energy.center_of_mass
    inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
    forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
    linearize = linearization.linearize

    # --- time: simulation/ ---
    simulate = simulate_motion
    simulation = simulation.simulation
    sensitivities = sensitivities.sensitivities

    # --- equations and pictures: symbolic/, plots/, studio/ ---
    equations = equations_of_motion
    kinematic_equations = kinematics.kinematic_equations
    derivation = derivation.derivation
    check = answers.check
    plot = posture.plot
    animate = animation.animate
    show = method("chainrule.pages.show", "show")

    # --- subjects: robot/subjects/ ---

    @property
    def ik(self) -> Ik:
        """Inverse kinematics beyond a single answer: solve, follow, branches, reachability, stream."""
        from chainrule.robot.subjects.ik import Ik

        return remember(self, ("subject", "ik"), lambda: Ik(self))

    @property
    def loops(self) -> Loops:
        """Closed loops: close, mobility, residual, jacobian, forces, torques, consistent motions."""
        from chainrule.robot.subjects.loops import Loops

        return remember(self, ("subject", "loops"), lambda: Loops(self))

    @property
    def analysis(self) -> Analysis:
        """Analysis of a posture: singularities, ellipsoids, null spaces, how much it can push and carry."""
        from chainrule.robot.subjects.analysis import Analysis

        return remember(self, ("subject", "analysis"), lambda: Analysis(self))

    @property
    def textbook(self) -> Textbook:
        """The forms that textbooks print: tables of recursions, the matrix form, the DAE, DH, screws."""
        from chainrule.robot.subjects.textbook import Textbook

        return remember(self, ("subject", "textbook"), lambda: Textbook(self))

    @property
    def derivatives(self) -> Derivatives:
        """Derivatives of every function: jvp, vjp, hvp, by_parameters, and single ones as arrays."""
        from chainrule.robot.subjects.derivatives import Derivatives

        return remember(self, ("subject", "derivatives"), lambda: Derivatives(self))

    @property
    def centroidal(self) -> Centroidal:
        """The momentum about the center of mass, and the velocity of that."""
        from chainrule.robot.subjects.centroidal import Centroidal

        return remember(self, ("subject", "centroidal"), lambda: Centroidal(self))

    @property
    def parameters(self) -> Parameters:
        """The numbers in which torques are linear: values, names, regressor, base, with_values."""
        from chainrule.robot.subjects.parameters import Parameters

        return remember(self, ("subject", "parameters"), lambda: Parameters(self))

    @property
    def states(self) -> States:
        """States in other forms: by name, as tables, in the order of other programs."""
        from chainrule.robot.subjects.states import States

        return remember(self, ("subject", "states"), lambda: States(self))

    @property
    def compiled(self) -> Compiled:
        """Machine code and source code of its functions: kernel, export."""
        from chainrule.robot.subjects.compiled import Compiled

        return remember(self, ("subject", "compiled"), lambda: Compiled(self))

    @property
    def casadi(self) -> CasadiFunctions:
        """The functions of this robot on symbols of CasADi, and as functions of CasADi."""
        from chainrule.frameworks.casadi import CasadiFunctions

        return remember(self, ("framework", "casadi"), lambda: CasadiFunctions(self))

    @property
    def jax(self) -> JaxFunctions:
        """The functions of this robot on arrays of JAX, with derivatives of every order."""
        from chainrule.frameworks.jax import JaxFunctions

        return remember(self, ("framework", "jax"), lambda: JaxFunctions(self))

    @property
    def torch(self) -> TorchFunctions:
        """The functions of this robot on tensors of PyTorch, with derivatives of every order."""
        from chainrule.frameworks.torch import TorchFunctions

        return remember(self, ("framework", "torch"), lambda: TorchFunctions(self))

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            from chainrule.robot.advice import unknown_attribute

            raise AttributeError(name) if name.startswith("_") else unknown_attribute(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and (type(self) is Robot or hasattr(Robot, name)):  # subclasses may have more
            from chainrule.robot.advice import unchangeable

            raise unchangeable(self, name)
        super().__setattr__(name, value)

    def _repr_html_(self) -> str:
        from chainrule.plots.cards import robot_card

        return robot_card(self)
