"""The Robot: a table of contents. Each line lists a function of a Mechanism that some other file defines.

State and machinery are in `core/mechanism.py`; this class adds none and overrides nothing. Subjects that need heavy
packages (equations, pictures) are imported by the call.

How to add a method: write a free function whose first parameter is a `Mechanism`, in the file of its subject, and list
it here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from os import PathLike
from typing import TYPE_CHECKING, Any, ParamSpec

from chainrule.core import products
from chainrule.core.export import export
from chainrule.core.mechanism import Mechanism
from chainrule.doctor import diagnosis
from chainrule.dynamics import derivatives, dynamics, energy, linearization, textbook, unit_check
from chainrule.identification import parameters as identified
from chainrule.identification import regressor as regression
from chainrule.identification.parameter_derivatives import parameter_derivatives as derivatives_by_parameters
from chainrule.inverse_kinematics import path, solve
from chainrule.inverse_kinematics.analytic import solve as analytic
from chainrule.kinematics import (
    capacity,
    configurations,
    differential,
    manipulability,
    moving_point,
    named_states,
    orders,
    poses,
    reduced,
    singularities,
    tasks,
    workspace,
)
from chainrule.kinematics import textbook as kinematic_textbook
from chainrule.loops import closure, forces, mobility, motion
from chainrule.model import Model
from chainrule.robot import building, comparison, edits, part_edits, parts
from chainrule.robot.units import units as with_units
from chainrule.simulation import stepping
from chainrule.simulation.sensitivities import sensitivities as sensitivities_of_motion
from chainrule.simulation.simulate import simulate as simulate_motion
from chainrule.simulation.state_derivative import state_derivative as derivative_of_state

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from chainrule.dynamics.dae import DAE
    from chainrule.frameworks.casadi import CasadiFunctions
    from chainrule.frameworks.jax import JaxFunctions
    from chainrule.frameworks.torch import TorchFunctions
    from chainrule.inverse_kinematics.reachability import Reachability
    from chainrule.plots.animation import Animation
    from chainrule.simulation.dae_residual import DAEResidual
    from chainrule.simulation.maximal import MaximalMotion
    from chainrule.symbolic.closed_form.dae import DAEEquations
    from chainrule.symbolic.closed_form.equations import Equations
    from chainrule.symbolic.closed_form.kinematics import KinematicEquations
    from chainrule.symbolic.documents.document import Document

P = ParamSpec("P")


def _constructor(build: Callable[P, Model]) -> classmethod[Any, P, Robot]:
    """A class method that makes a robot of the model that `build` returns."""

    def make(cls: type[Robot], /, *arguments: P.args, **options: P.kwargs) -> Robot:
        return cls(build(*arguments, **options))

    own = signature(build)
    first = Parameter("cls", Parameter.POSITIONAL_ONLY)
    make.__name__, make.__qualname__, make.__doc__ = build.__name__, f"Robot.{build.__name__}", build.__doc__
    make.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[first, *own.parameters.values()], return_annotation="Robot"
    )
    return classmethod(make)


class Robot(Mechanism):
    """A robot: an immutable model and the functions of its state.

    States are arrays whose last dimension is the joint's, `q` (..., nq) and `qd`, `qdd`, `tau` (..., nv); leading
    dimensions are a batch of the user's, and broadcast. SI units throughout. Spatial vectors have their angular
    part first.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.gravity_torque([0.0, 0.0]).round(3).tolist()
    [29.43, 9.81]
    """

    # --- from files and tables, and back: robot/building.py ---
    from_urdf = _constructor(building.from_urdf)
    from_mjcf = _constructor(building.from_mjcf)
    from_sdf = _constructor(building.from_sdf)
    from_mujoco = _constructor(building.from_mujoco)
    from_pinocchio = _constructor(building.from_pinocchio)
    from_yourdfpy = _constructor(building.from_yourdfpy)
    from_native = _constructor(building.from_native)
    from_dh = _constructor(building.from_dh)
    from_screws = _constructor(building.from_screws)
    save = building.save
    to_urdf = building.to_urdf
    to_dh = building.to_dh
    to_screws = building.to_screws

    # --- its parts by name: robot/parts.py ---
    links = property(parts.links)
    joints = property(parts.joints)
    frames = property(parts.frames)

    # --- what looks wrong with it: doctor/diagnosis.py, dynamics/unit_check.py ---
    doctor = diagnosis.doctor
    check_units = unit_check.check_units

    # --- edits, each a new robot: robot/part_edits.py, edits.py ---
    with_link = part_edits.with_link
    with_joint = part_edits.with_joint
    with_name = part_edits.with_name
    rename = part_edits.rename
    lock = edits.lock
    with_payload = edits.with_payload
    with_frame = edits.with_frame
    with_configuration = edits.with_configuration
    with_srdf = edits.with_srdf
    with_constraint = edits.with_constraint
    without_constraint = edits.without_constraint
    with_strut = edits.with_strut
    with_spring = edits.with_spring
    without_spring = edits.without_spring
    with_end_effector = edits.with_end_effector
    with_gravity = edits.with_gravity
    with_joint_properties = edits.with_joint_properties
    with_friction = edits.with_friction
    with_passive = edits.with_passive
    without_friction = edits.without_friction
    without_rotors = edits.without_rotors
    without_springs = edits.without_springs
    scale_masses = edits.scale_masses
    attach = edits.attach
    rebase = edits.rebase
    chain = edits.chain
    floating = edits.floating
    merge_fixed = edits.merge_fixed
    with_frames_at_mass_centers = edits.with_frames_at_mass_centers

    # --- two robots compared: robot/comparison.py ---
    compare = comparison.compare

    # --- configurations: kinematics/configurations.py ---
    neutral = configurations.neutral
    home = configurations.home
    random_state = configurations.random_state
    integrate = configurations.integrate
    difference = configurations.difference
    coordinate_rates = configurations.coordinate_rates

    # --- states by the names of joints, and in the order of others: kinematics/named_states.py, orders.py ---
    q = named_states.q
    qd = named_states.qd
    tau = named_states.tau
    by_name = named_states.by_name
    to_pandas = named_states.to_pandas
    to_xarray = named_states.to_xarray
    units = property(with_units)
    reorder = orders.reorder
    order_of = orders.order_of

    # --- poses, velocities, Jacobians: kinematics/poses.py, differential.py, textbook.py, moving_point.py ---
    pose = poses.pose
    twists = poses.twists
    accelerations = poses.accelerations
    jacobian = poses.jacobian
    jacobian_derivative = poses.jacobian_derivative
    kinematic_hessian = poses.kinematic_hessian
    analytic_jacobian = poses.analytic_jacobian
    pose_vector = poses.pose_vector
    angles_are_singular = poses.angles_are_singular
    poses = poses.poses
    velocity = differential.velocity
    acceleration = differential.acceleration
    velocity_table = kinematic_textbook.velocity_table
    exponential_table = kinematic_textbook.exponential_table
    velocity_terms = moving_point.velocity_terms
    acceleration_terms = moving_point.acceleration_terms
    resolved_rate = differential.resolved_rate
    resolved_acceleration = differential.resolved_acceleration
    null_space = differential.null_space

    # --- singularities and manipulability: kinematics/tasks.py, singularities.py, reduced.py, manipulability.py ---
    task = tasks.task
    task_rank = tasks.task_rank
    singular_values = singularities.singular_values
    condition_number = singularities.condition_number
    is_singular = singularities.is_singular
    singularity = singularities.singularity
    reduced_jacobian = reduced.reduced_jacobian
    manipulability_gradient = manipulability.manipulability_gradient
    manipulability_ellipsoid = manipulability.manipulability_ellipsoid
    dynamic_manipulability = manipulability.dynamic_manipulability
    manipulability = manipulability.manipulability

    # --- forces within limits, reach: kinematics/capacity.py, workspace.py ---
    balanced_wrench = capacity.balanced_wrench
    wrench_capacity = capacity.wrench_capacity
    push_capacity = capacity.push_capacity
    payload_capacity = capacity.payload_capacity
    workspace = workspace.workspace

    # --- inverse kinematics: inverse_kinematics/ ---
    inverse_kinematics = solve.inverse_kinematics
    follow = path.follow
    analytic_inverse_kinematics = analytic.analytic_inverse_kinematics

    # --- dynamics: dynamics/dynamics.py, energy.py, textbook.py, dae.py ---
    inverse_dynamics = dynamics.inverse_dynamics
    forward_dynamics = dynamics.forward_dynamics
    inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
    forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
    linearize = linearization.linearize
    inverse_dynamics_second_derivatives = derivatives.inverse_dynamics_second_derivatives
    mass_matrix = dynamics.mass_matrix
    mass_matrix_derivative = dynamics.mass_matrix_derivative
    apply_inverse_mass = dynamics.apply_inverse_mass
    coriolis_matrix = dynamics.coriolis_matrix
    gravity_torque = dynamics.gravity_torque
    gravity_torque_jacobian = dynamics.gravity_torque_jacobian
    friction_torque = dynamics.friction_torque
    spring_torque = dynamics.spring_torque
    spring_forces = dynamics.spring_forces
    bias = dynamics.bias
    torque_terms = dynamics.torque_terms
    joint_wrenches = dynamics.joint_wrenches
    static_torque = dynamics.static_torque
    kinetic_energy = energy.kinetic_energy
    potential_energy = energy.potential_energy
    kinetic_energy_derivatives = energy.kinetic_energy_derivatives
    potential_energy_gradient = energy.potential_energy_gradient
    momentum = energy.momentum
    momentum_derivatives = energy.momentum_derivatives
    centroidal_momentum = energy.centroidal_momentum
    centroidal_momentum_derivatives = energy.centroidal_momentum_derivatives
    centroidal_momentum_matrix = energy.centroidal_momentum_matrix
    center_of_mass = energy.center_of_mass
    center_of_mass_jacobian = energy.center_of_mass_jacobian
    newton_euler_table = textbook.newton_euler_table
    rnea_table = textbook.rnea_table
    matrix_form = textbook.matrix_form

    # --- its own numbers: identification/parameters.py, regressor.py, parameter_derivatives.py ---
    parameter_derivatives = derivatives_by_parameters
    parameters = property(identified.parameter_values)
    parameter_names = property(identified.parameter_names)
    parameter_places = identified.parameter_places
    with_parameters = identified.with_parameters
    regressor = regression.regressor
    base_parameters = regression.base_parameters

    # --- derivatives of any function, times a vector: core/products.py ---
    jvp = products.jvp
    vjp = products.vjp
    hvp = products.hvp

    # --- closed loops: loops/ ---
    close = closure.close
    closing_step = closure.closing_step
    constraint_residual = closure.constraint_residual
    constraint_jacobian = closure.constraint_jacobian
    constraint_velocity_terms = closure.constraint_velocity_terms
    constraint_poses = closure.constraint_poses
    consistent_velocity = motion.consistent_velocity
    consistent_acceleration = motion.consistent_acceleration
    mobility = mobility.mobility
    constraint_forces = forces.constraint_forces
    loop_forces = forces.loop_forces
    loop_torques = forces.loop_torques

    # --- simulation: simulation/simulate.py, stepping.py, sensitivities.py, state_derivative.py ---
    simulate = simulate_motion
    sensitivities = sensitivities_of_motion
    simulation = stepping.simulation
    state_derivative = derivative_of_state

    # --- source code of kernels: core/export.py ---
    export = export

    # --- what needs heavy packages is imported by the call ---

    @property
    def casadi(self) -> CasadiFunctions:
        """The functions of this robot on symbols of CasADi, and as functions of CasADi."""
        from chainrule.frameworks.casadi import CasadiFunctions

        return self.remember("casadi", lambda: CasadiFunctions(self))

    @property
    def jax(self) -> JaxFunctions:
        """The functions of this robot on arrays of JAX, with derivatives of every order."""
        from chainrule.frameworks.jax import JaxFunctions

        return self.remember("jax", lambda: JaxFunctions(self))

    @property
    def torch(self) -> TorchFunctions:
        """The functions of this robot on tensors of PyTorch, with derivatives of every order."""
        from chainrule.frameworks.torch import TorchFunctions

        return self.remember("torch", lambda: TorchFunctions(self))

    def _repr_html_(self) -> str:
        from chainrule.plots.cards import robot_card

        return robot_card(self)

    def reachability(
        self,
        low: ArrayLike,
        high: ArrayLike,
        cell: float,
        orientations: Any = None,
        link: str | None = None,
        *,
        task: str | None = None,
        cluster: Any = None,
        workers: int | None = None,
        progress: bool | None = None,
        **options: Any,
    ) -> Reachability:
        """The places of a box that a link or frame reaches with given orientations, such as a hand with a cup upright.

        The inverse kinematics is solved for the center of each cell with each orientation. Of a target one bit is kept,
        so that a billion of them fit. The result does not depend on processes and machines.

        Parameters
        ----------
        low, high
            The corners of the box (x, y, z), in m; a plane or a line where they have equal numbers.
        cell
            The side of cells, in m.
        orientations
            Rotation matrices (3, 3) or (K, 3, 3), or Rotations of SciPy; None if only the position counts.
        link
            The link or frame; the end-effector unless one is named.
        task
            As in `inverse_kinematics`: "pose" unless given, or "axis", the direction of one axis of the frame alone.
        cluster, workers, progress
            As in `workspace`.
        options
            Of `inverse_kinematics`: tolerance, axis, limits, weights, posture, method, max_iterations, seed, and
            restarts, 20 unless given: of targets that cannot be reached, all of them are tried.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").reachability([0, 0, 0], [2, 2, 0], 0.25)
        <Reachability of 'planar_2r': 8 x 8 x 1 cells of 0.25 m, 1 orientations, 81.2% reached>
        """
        from chainrule.cluster.reach import map_reachability

        return map_reachability(
            self, low, high, cell, orientations, link, task=task, cluster=cluster, workers=workers, progress=progress,
            options=options,
        )  # fmt: skip

    def dae(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        *,
        wrench_frame: str = "body",
    ) -> DAE:
        """The equations of motion of one state with nothing eliminated: links, joints and constraints in one system.

        `solve()` gives every unknown, `reduce()` the steps that lead to M and h.

        >>> import chainrule as cr
        >>> system = cr.load("planar_2r").dae([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        >>> system.solve().qdd.round(3).tolist()
        [-9.81, 9.81]
        """
        from chainrule.dynamics.dae import dae

        return dae(self, q, qd, tau, tip_wrench, wrenches, wrench_frame=wrench_frame)

    def dae_residual(
        self,
        torque: ArrayLike | Callable[[Any, Any, Any], Any] | None = None,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        *,
        wrench_frame: str = "body",
        index: int = 1,
    ) -> DAEResidual:
        """The equations of motion with nothing eliminated as F(x, dx/dt, t) = 0, for an integrator of DAEs.

        x = (q, qd, V, W, lambda). The result has F, its sparse Jacobian, a consistent start, the index (1, 2 or, for
        loops, 3) and an integration by IDAS. torque: numbers, or a function of (t, q, qd) in plain arithmetic.

        >>> import chainrule as cr
        >>> F = cr.load("planar_2r").dae_residual()
        >>> start = F.start([0.3, 0.4], [1.0, 0.0])
        >>> bool(abs(F(start.x, start.x_dot)).max() < 1e-12)
        True
        """
        from chainrule.simulation.dae_residual import dae_residual

        return dae_residual(self, torque, tip_wrench, wrenches, wrench_frame=wrench_frame, index=index)

    def simulate_maximal(
        self,
        q0: ArrayLike,
        qd0: ArrayLike | None = None,
        duration: float = 1.0,
        torque: ArrayLike | Callable[[float, Any, Any], Any] | None = None,
        dt: float = 1e-3,
        *,
        stabilization: str = "projection",
        record_every: int = 1,
    ) -> MaximalMotion:
        """The motion in maximal coordinates: each link's pose and twist as the state, joints as constraints.

        stabilization: "projection" after every step, "baumgarte", or "none", which shows the drift. `compare()` of the
        result runs the reduced simulation beside it.

        >>> import chainrule as cr
        >>> motion = cr.load("planar_2r").simulate_maximal([0.3, 0.4], None, 0.1, dt=0.01)
        >>> motion.twists.shape
        (11, 2, 6)
        """
        from chainrule.simulation.maximal import simulate_maximal

        options: Any = {"stabilization": stabilization, "record_every": record_every}
        return simulate_maximal(self, q0, qd0, duration, torque, dt, **options)

    def equations(
        self,
        parameters: str | Mapping[Any, Any] = "symbolic",
        *,
        symbols: Mapping[Any, Any] | None = None,
        simplify: bool = True,
        tip_wrench: str | None = None,
    ) -> Equations:
        """The equations of motion in closed form: SymPy matrices M, C, g, tau and others.

        parameters: "symbolic", names for masses, lengths, inertias and angles; "numeric", their numbers; or a
        dictionary that gives some of the names numbers or other symbols. symbols: your own, also for coordinates,
        {"q_1": theta, "L_1": sympy.Symbol("a")}. `simplify` factors coefficients.
        tip_wrench: "body", "world" or "space", the axes of a wrench (m_x, m_y, m_z, f_x, f_y, f_z) that the tip applies
        to its surroundings, whose torques J^T F are then part of tau.

        >>> import chainrule as cr
        >>> print(cr.load("pendulum").equations().tau[0])
        L_1**2*m_1*qddot_1 + L_1*g*m_1*sin(q_1)
        >>> print(cr.load("pendulum").equations(tip_wrench="world").external[0])
        L_1*f_x*cos(q_1) + L_1*f_y*sin(q_1) + m_z
        """
        from chainrule.symbolic.closed_form.equations import equations

        return equations(self, parameters, symbols=symbols, simplify=simplify, tip_wrench=tip_wrench)

    def dae_equations(
        self, parameters: str | Mapping[Any, Any] = "symbolic", *, symbols: Mapping[Any, Any] | None = None
    ) -> DAEEquations:
        """The parent-child DAE of a small robot in symbols: SymPy's matrix, unknowns and rhs, and `reduced`, the ODE.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").dae_equations()
        <DAE of 'planar_2r' in symbols: 26 equations, 72 entries>
        """
        from chainrule.symbolic.closed_form.dae import dae_equations

        return dae_equations(self, parameters, symbols=symbols)

    def kinematic_equations(
        self,
        link: str | None = None,
        frame: str = "world",
        parameters: str | Mapping[Any, Any] = "symbolic",
        *,
        symbols: Mapping[Any, Any] | None = None,
        order: str = "rpy",
    ) -> KinematicEquations:
        """The pose T, the Jacobian J, its determinant and the singular postures of a link or frame, in closed form.

        Parameters
        ----------
        link
            The link or frame, the end-effector by default.
        frame
            Of the Jacobian: "world", "space" or "body".
        parameters, symbols
            As of `equations`.
        order
            Of the angles of the pose vector and the analytic Jacobian, as of `pose_vector`.

        Examples
        --------
        >>> import chainrule as cr
        >>> cr.load("planar_2r").kinematic_equations().analytic_jacobian[0, :]
        Matrix([[-L_1*sin(q_1) - L_2*sin(q_1 + q_2), -L_2*sin(q_1 + q_2)]])
        """
        from chainrule.symbolic.closed_form.kinematics import kinematic_equations

        return kinematic_equations(self, link, frame, parameters, symbols=symbols, order=order)

    def derivation(
        self,
        method: str = "newton-euler",
        *,
        parameters: str | Mapping[Any, Any] = "symbolic",
        state: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        symbols: Mapping[Any, Any] | None = None,
    ) -> Document:
        """The equations of motion derived step by step, with numbers for a sample state (q, qd, qdd) beside symbols.

        method: "newton-euler", "rnea", "lagrange", "closed-form", "dae"; "velocities" and "jacobians", which need no
        masses. The document can be written as LaTeX, Markdown, a Jupyter notebook, or a page of HTML.
        """
        from chainrule.symbolic.derivations.derivation import derive

        return derive(self, method, parameters=parameters, state=state, symbols=symbols)

    def plot(
        self,
        q: ArrayLike | None = None,
        path: str | PathLike[str] | None = None,
        *,
        link: str | None = None,
        frames: bool | None = None,
        screws: bool | None = None,
        ellipsoids: Sequence[str] = (),
        ellipsoid_scale: float | None = None,
        names: bool | None = None,
        style: str = "auto",
        ground: bool = True,
        ax: Any = None,
        limits: ArrayLike | None = None,
        view: str | Sequence[float] | None = None,
        size: Sequence[float] | None = None,
    ) -> Figure:
        """Draw the robot in a posture, or in several, with its joints and their names.

        The figure of Matplotlib is returned. It appears in a notebook, and with plt.show(); where a path is given it
        is written to a .png, .pdf or .svg file instead.

        Parameters
        ----------
        q
            A posture (nq,), or several (k, nq), the earlier the paler; the home posture if none is given.
        path
            A file to write.
        link
            The link or frame at which ellipsoids are drawn; the end-effector, or all tips of a robot that branches.
        frames, screws
            Whether to draw the frames of all links, and the screw axes; by default the frames of base and tips alone.
        ellipsoids
            Of "velocity", "force" and "acceleration", all of a kind to one scale.
        ellipsoid_scale
            The length, in m, that 1 m/s, 1 N or 1 m/s² is drawn as, so that several pictures can be compared.
        names
            Whether to write the names of joints; by default, of robots with at most twelve.
        style
            "visual" geometry, "capsules" between joints, "lines", or "auto", what there is.
        ground
            Whether to draw a ground with shadows.
        ax, limits, view, size
            Axes to draw on; fixed limits (low, high) in m for x, y and z; "iso", "front", "side", "top", or elevation
            and azimuth in degrees; width and height of the figure in inches.

        >>> import chainrule as cr
        >>> figure = cr.load("four_bar").plot(view="front", size=(4, 3))
        """
        from chainrule.plots.posture import plot

        marks: dict[str, Any] = {"link": link, "frames": frames, "screws": screws, "names": names}
        room: dict[str, Any] = {"ax": ax, "limits": limits, "view": view, "size": size, "ground": ground}
        shapes: dict[str, Any] = {"ellipsoids": ellipsoids, "ellipsoid_scale": ellipsoid_scale, "style": style}
        return plot(self, q, path, **marks, **shapes, **room)

    def animate(
        self,
        motion: Any,
        path: str | PathLike[str] | None = None,
        *,
        fps: float = 25.0,
        speed: float = 1.0,
        t: ArrayLike | None = None,
        row: int | Sequence[int] | None = None,
        trail: str | bool | None = True,
        style: str = "auto",
        ground: bool = True,
        limits: ArrayLike | None = None,
        view: str | Sequence[float] | None = None,
        size: Sequence[float] | None = None,
        progress: bool | None = None,
    ) -> Animation:
        """An animation of a motion in real time: a player in a notebook, or a .gif, .mp4 or .html file.

        Parameters
        ----------
        motion
            A trajectory; a motion as of cr.plan; or postures (k, nq) with their times t.
        path
            A .gif, .mp4 or .html file to write.
        fps, speed
            Frames in a second of the animation, and seconds of the motion in it: 0.5 is slow motion.
        t
            The times of postures (k,), in s.
        row
            Which motion of a batch is shown, the first by default.
        trail
            Whether the way of the end-effector is drawn, or the link or frame whose way is drawn.
        style, ground, limits, view, size
            As of plot; limits are those of the whole motion by default.
        progress
            Whether a bar is shown while files are written; by default, on a terminal after a second.

        >>> import chainrule as cr
        >>> arm = cr.load("pendulum")
        >>> arm.animate(arm.simulate([1.0], None, 1.0), fps=10)
        <Animation of 'pendulum': 11 frames, 1 s at 10 frames/s>
        """
        from chainrule.plots.animation import animate

        timing: dict[str, Any] = {"fps": fps, "speed": speed, "t": t, "row": row, "progress": progress}
        room: dict[str, Any] = {"trail": trail, "style": style, "ground": ground, "limits": limits, "view": view}
        return animate(self, motion, path, size=size, **timing, **room)

    def show(
        self,
        q: Any = None,
        path: str | PathLike[str] | None = None,
        *,
        t: ArrayLike | None = None,
        row: int | Sequence[int] | None = None,
        fps: float | None = None,
        dark: bool = False,
        height: int = 480,
        live: bool | None = None,
    ) -> Any:
        """Show the robot in 3-D, to be turned and zoomed; of a motion, a replay with play, pause and a time slider.

        In a notebook it appears below the cell, and is saved with the notebook. With a path it is written to one .html
        file, about 0.9 MB, which needs no server and no network. Elsewhere a posture opens the studio in the browser,
        which is returned (a program waits until Ctrl-C), and a motion opens a page. Needs the extra `studio`.

        Parameters
        ----------
        q
            A posture (nq,), the home posture if none is given; or a motion: a trajectory, a motion as of cr.plan, or
            postures (k, nq) with their times t.
        path
            An .html file to write; one that is there is replaced.
        t, row
            The times of postures (k,), in s; which motion of a batch is shown, the first by default.
        fps
            Postures in a second of a replay; 30 by default, fewer of a motion longer than 100 s.
        dark
            Whether the page is dark.
        height
            The height of the frame in a notebook, in pixels.
        live
            Whether a server is behind it, so that joints can be moved: by default outside a notebook alone. It is
            reached from this machine only.

        >>> import chainrule as cr
        >>> cr.load("panda").show(path="panda.html")  # doctest: +SKIP
        """
        from chainrule.studio.show import show

        return show(self, q, path, t=t, row=row, fps=fps, dark=dark, height=height, live=live)

    def plot_manipulability(
        self,
        q: ArrayLike,
        path: str | PathLike[str] | None = None,
        *,
        t: ArrayLike | None = None,
        link: str | None = None,
        part: str | None = None,
        ax: Any = None,
        size: Sequence[float] | None = None,
    ) -> Figure:
        """Draw manipulability, singular values and condition number along postures.

        Parameters
        ----------
        q
            Postures (k, nq), at least two.
        path
            A .png, .pdf or .svg file to write.
        t
            The time of each posture (k,), in s.
        link, part
            The link or frame, and the part of its motion.
        ax, size
            Three axes to draw on; width and height of the figure in inches.
        """
        from chainrule.plots.manipulability import plot_manipulability

        return plot_manipulability(self, q, path, t=t, link=link, part=part, ax=ax, size=size)
