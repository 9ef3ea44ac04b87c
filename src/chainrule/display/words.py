"""Words of other libraries and of textbooks, and what each is called here: one table, for advice and for the docs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from chainrule.errors import UnknownAttributeError, nearest, quoted, short_repr

SOURCES = (
    "Robotics Toolbox", "MATLAB", "Pinocchio", "Drake", "MuJoCo", "Modern Robotics", "textbooks and habit",
)  # fmt: skip
"""Where the words come from: the columns of the table, in this order."""

RTB, MATLAB, PIN, DRAKE, MUJOCO, MR, BOOKS = SOURCES


@dataclass(frozen=True, eq=False)
class Word:
    """A name here, and the words that others have for the same, by where they come from."""

    here: str
    others: dict[str, str]
    """Words, with spaces between them."""

    def words(self) -> Iterator[str]:
        """The words of all others."""
        for text in self.others.values():
            yield from text.split()


ROBOT = (
    Word("robot.pose(q)", {
        RTB: "fkine", MATLAB: "getTransform", PIN: "forwardKinematics framesForwardKinematics oMf oMi",
        DRAKE: "CalcRelativeTransform EvalBodyPoseInWorld", MUJOCO: "mj_kinematics xpos xmat site_xpos",
        MR: "FKinSpace FKinBody",
        BOOKS: "fk forward forward_kinematics direct_kinematics direct transform T T0n end_effector_pose ee_pose",
    }),
    Word("robot.poses(q)", {
        RTB: "fkine_all", PIN: "updateFramePlacements", BOOKS: "fk_all link_poses all_poses link_transforms transforms",
    }),
    Word("robot.pose(q)[:3, 3]", {BOOKS: "position ee_position end_effector_position tip_position"}),
    Word("robot.velocity(q, qd), angular part first", {
        PIN: "getFrameVelocity getVelocity", DRAKE: "EvalBodySpatialVelocityInWorld", MUJOCO: "mj_objectVelocity cvel",
        BOOKS: "twist link_velocity end_effector_velocity tip_velocity spatial_velocity",
    }),
    Word("robot.acceleration(q, qd, qdd), angular part first", {
        PIN: "getFrameAcceleration getClassicalAcceleration", DRAKE: "EvalBodySpatialAccelerationInWorld",
        MUJOCO: "mj_objectAcceleration cacc", BOOKS: "link_acceleration end_effector_acceleration",
    }),
    Word("robot.jacobian(q), whose angular rows come first", {
        RTB: "jacob0", MATLAB: "geometricJacobian",
        PIN: "computeJointJacobians computeFrameJacobian getFrameJacobian getJointJacobian",
        DRAKE: "CalcJacobianSpatialVelocity CalcJacobianTranslationalVelocity", MUJOCO: "mj_jac mj_jacBody mj_jacSite",
        BOOKS: "manipulator_jacobian end_effector_jacobian jac J geometric_jacobian jacobian_matrix basic_jacobian",
    }),
    Word('robot.jacobian(q, frame="body"), whose angular rows come first', {
        RTB: "jacobe", MR: "JacobianBody", BOOKS: "body_jacobian",
    }),
    Word('robot.jacobian(q, frame="space")', {MR: "JacobianSpace", BOOKS: "space_jacobian spatial_jacobian"}),
    Word("robot.jacobian_dot(q, qd)", {
        RTB: "jacob0_dot jacob_dot", PIN: "computeJointJacobiansTimeVariation",
        DRAKE: "CalcBiasSpatialAcceleration", MUJOCO: "mj_jacDot", BOOKS: "jdot Jdot jacobian_derivative",
    }),
    Word("robot.jacobian_dq(q)", {RTB: "hessian0 hessiane", PIN: "getJointKinematicHessian", BOOKS: "hessian"}),
    Word("robot.textbook.analytic_jacobian(q)", {RTB: "jacob0_analytical"}),
    Word("robot.inverse_kinematics(target)", {
        RTB: "ikine ikine_LM ik_LM ikine_LMS ikine_GN ikine_NR ik_GN ik_NR ikcon ikunc ikine_QP ikine_min ik_lm_chan "
        "ik_lm_wampler ik_lm_sugihara",
        MATLAB: "inverseKinematics ikSolver",
        DRAKE: "InverseKinematics", MR: "IKinSpace IKinBody", BOOKS: "solve_ik ik_solve inverse",
    }),
    Word("robot.ik.branches(target), all solutions in closed form", {
        RTB: "ikine_a ikine6s ikine3", MATLAB: "analyticalInverseKinematics",
        BOOKS: "analytic_inverse_kinematics closed_form all_solutions",
    }),
    Word("robot.ik.follow(poses)", {BOOKS: "follow_path track_path path_ik"}),
    Word("robot.inverse_dynamics(q, qd, qdd)", {
        RTB: "rne rne_python", MATLAB: "inverseDynamics", PIN: "rnea computeGeneralizedTorque",
        DRAKE: "CalcInverseDynamics", MUJOCO: "mj_inverse mj_rne qfrc_inverse", MR: "InverseDynamics",
        BOOKS: "id invdyn inv_dyn torque torques inverse_dynamic computed_torque joint_torques newton_euler_torques",
    }),
    Word("robot.forward_dynamics(q, qd, tau)", {
        RTB: "accel", MATLAB: "forwardDynamics", PIN: "aba", MUJOCO: "mj_forward mj_fwdAcceleration qacc",
        MR: "ForwardDynamics", BOOKS: "fd direct_dynamics qdd joint_accelerations",
    }),
    Word("robot.mass_matrix(q)", {
        RTB: "inertia", MATLAB: "massMatrix", PIN: "crba", DRAKE: "CalcMassMatrix CalcMassMatrixViaInverseDynamics",
        MUJOCO: "mj_fullM qM mj_crb", MR: "MassMatrix",
        BOOKS: "M inertia_matrix mass_matrices B D H generalized_inertia joint_space_inertia",
    }),
    Word("robot.mass_matrix(q) @ qdd", {RTB: "itorque", BOOKS: "inertial_torque"}),
    Word("robot.analysis.apply_inverse_mass(q, x)", {PIN: "computeMinverse", MUJOCO: "mj_solveM", BOOKS: "minv Minv"}),
    Word("robot.analysis.dynamic_manipulability(q)", {RTB: "asada", BOOKS: "dynamic_ellipsoid"}),
    Word("robot.coriolis_matrix(q, qd)", {
        RTB: "coriolis", PIN: "computeCoriolisMatrix", BOOKS: "C christoffel coriolis_centrifugal",
    }),
    Word("robot.coriolis_matrix(q, qd) @ qd", {
        MATLAB: "velocityProduct", MR: "VelQuadraticForces", BOOKS: "velocity_product coriolis_torque coriolis_force",
    }),
    Word("robot.gravity_torque(q)", {
        RTB: "gravload", MATLAB: "gravityTorque", PIN: "computeGeneralizedGravity",
        DRAKE: "CalcGravityGeneralizedForces", MR: "GravityForces",
        BOOKS: "G g gravity_vector gravity_torques gravity_compensation gravity_forces gravity_term gravity_load",
    }),
    Word("robot.bias(q, qd)", {
        PIN: "nle nonLinearEffects", DRAKE: "CalcBiasTerm", MUJOCO: "qfrc_bias",
        BOOKS: "h nonlinear_effects bias_force bias_forces bias_term",
    }),
    Word("robot.friction_torque(qd)", {RTB: "friction", MUJOCO: "qfrc_passive", BOOKS: "friction_force"}),
    Word("robot.static_torque(q, wrench)", {
        RTB: "pay paycap", MATLAB: "externalForce", PIN: "computeStaticTorque", MR: "EndEffectorForces",
        MUJOCO: "mj_applyFT", BOOKS: "wrench_to_torque statics static_forces",
    }),
    Word("robot.torque_terms(q, qd, qdd)", {PIN: "computeAllTerms", BOOKS: "terms torque_components dynamics_terms"}),
    Word("robot.kinetic_energy(q, qd)", {
        PIN: "computeKineticEnergy", DRAKE: "CalcKineticEnergy EvalKineticEnergy", MUJOCO: "mj_energyVel",
        BOOKS: "ke KE",
    }),
    Word("robot.potential_energy(q)", {
        PIN: "computePotentialEnergy", DRAKE: "CalcPotentialEnergy EvalPotentialEnergy", MUJOCO: "mj_energyPos",
        BOOKS: "pe PE",
    }),
    Word("robot.kinetic_energy(q, qd) + robot.potential_energy(q)", {
        PIN: "computeMechanicalEnergy", BOOKS: "energy total_energy",
    }),
    Word("robot.momentum(q, qd)", {DRAKE: "CalcSpatialMomentumInWorldAboutPoint", BOOKS: "spatial_momentum"}),
    Word("robot.centroidal.momentum(q, qd)", {
        PIN: "computeCentroidalMomentum ccrba", MATLAB: "centerOfMassMomentum", MUJOCO: "subtree_angmom",
    }),
    Word("robot.centroidal.matrix(q)", {PIN: "computeCentroidalMap Ag", BOOKS: "centroidal_momentum_matrix cmm"}),
    Word("robot.center_of_mass(q)", {
        MATLAB: "centerOfMass", PIN: "centerOfMass", DRAKE: "CalcCenterOfMassPositionInWorld", MUJOCO: "subtree_com",
        BOOKS: "com center_of_mass_position centroid cog CoM centre_of_mass",
    }),
    Word("robot.centroidal.com_jacobian(q)", {
        PIN: "jacobianCenterOfMass", DRAKE: "CalcJacobianCenterOfMassTranslationalVelocity", MUJOCO: "mj_jacSubtreeCom",
    }),
    Word("robot.parameters.regressor(q, qd, qdd)", {
        PIN: "computeJointTorqueRegressor", BOOKS: "Y identify identification identification_matrix dynamic_regressor",
    }),
    Word("robot.parameters.base()", {BOOKS: "base_parameters minimal_parameters"}),
    Word("robot.inverse_dynamics_derivatives(q, qd, qdd)", {
        PIN: "computeRNEADerivatives", MUJOCO: "mjd_inverseFD", BOOKS: "rnea_derivatives id_derivatives gradients grad",
    }),
    Word("robot.forward_dynamics_derivatives(q, qd, tau)", {
        PIN: "computeABADerivatives", BOOKS: "aba_derivatives fd_derivatives",
    }),
    Word("robot.linearize(q, qd, tau)", {
        DRAKE: "Linearize FirstOrderTaylorApproximation", MUJOCO: "mjd_transitionFD", BOOKS: "state_space ss linearise",
    }),
    Word("robot.manipulability(q)", {RTB: "maniplty", BOOKS: "yoshikawa manipulability_measure manipulability_index"}),
    Word("robot.analysis.ellipsoid(q)", {
        RTB: "vellipse fellipse", MR: "ManipulabilityEllipsoid", BOOKS: "ellipse manipulability_ellipsoid",
    }),
    Word("robot.analysis.condition_number(q)", {BOOKS: "cond isotropy dexterity"}),
    Word("robot.analysis.singularity(q)", {RTB: "jsingu", MR: "NearZero", BOOKS: "singularities singular"}),
    Word("robot.analysis.null_space(q)", {BOOKS: "nullspace null null_space_projector"}),
    Word("robot.analysis.resolved_rate(q, twist)", {RTB: "rrmc", BOOKS: "velocity_ik rmrc differential_ik"}),
    Word("robot.analysis.wrench_capacity(q, wrench)", {BOOKS: "force_capacity max_force force_polytope"}),
    Word("robot.analysis.payload(q)", {BOOKS: "payload max_payload payload_capacity"}),
    Word("robot.textbook.to_dh(convention=...)", {
        RTB: "dh DH mdh", BOOKS: "dh_table dh_parameters dh_params denavit_hartenberg",
    }),
    Word("robot.textbook.to_screws()", {
        RTB: "twists", MR: "Slist Blist", BOOKS: "screws screw_axes poe product_of_exponentials",
    }),
    Word("robot.textbook.newton_euler_table(q, qd, qdd)", {BOOKS: "newton_euler recursion recursive_newton_euler"}),
    Word("robot.equations()", {
        DRAKE: "ToSymbolic",
        BOOKS: "symbolic equations_of_motion eom symbolic_dynamics lagrangian lagrange euler_lagrange latex",
    }),
    Word("robot.derivation(method)", {BOOKS: "derive derivations steps"}),
    Word("robot.simulate(q0, duration=...)", {
        RTB: "fdyn", DRAKE: "Simulator AdvanceTo", MUJOCO: "mj_step rollout", MR: "ForwardDynamicsTrajectory EulerStep",
        BOOKS: "sim run integrate_dynamics rollouts step forward_simulate",
    }),
    Word("robot.with_payload(mass, com)", {RTB: "addload", BOOKS: "add_payload set_payload with_tool add_load"}),
    Word("robot.with_frame(name, origin, link=...)", {RTB: "tool", PIN: "addFrame", BOOKS: "add_frame tcp add_tool"}),
    Word("robot.with_end_effector(name)", {BOOKS: "set_end_effector set_tool set_tcp with_tcp"}),
    Word('robot.edit(joints={"*": {"viscous": 0.1, "coulomb": 0.5}})', {
        RTB: "nofriction", BOOKS: "with_friction set_friction add_friction",
    }),
    Word("robot.edit(gravity=(0, 0, -9.81))", {BOOKS: "with_gravity set_gravity"}),
    Word('robot.edit(links={"LINK": {"mass": 2.0}})', {
        RTB: "payload_mass", BOOKS: "with_mass set_mass with_link set_inertia with_links change_link",
    }),
    Word('robot.edit(joints={"JOINT": {"lower": -1.0, "upper": 1.0}})', {
        BOOKS: "with_limits set_limits with_joint set_joint_limits with_joints change_joint",
    }),
    Word("robot.lock(positions)", {PIN: "buildReducedModel", BOOKS: "freeze lock_joints fix_joint fix reduce"}),
    Word("robot.attach(other, link)", {
        DRAKE: "WeldFrames", MATLAB: "addSubtree addBody", PIN: "appendModel", BOOKS: "add join append",
    }),
    Word("robot.chain(link)", {MATLAB: "subtree", BOOKS: "subchain sub_chain"}),
    Word("robot.floating()", {BOOKS: "floating_base free_flyer with_floating_base"}),
    Word("robot.limits", {
        RTB: "islimit qlim", MATLAB: "PositionLimits",
        PIN: "lowerPositionLimit upperPositionLimit effortLimit velocityLimit",
        DRAKE: "GetPositionLowerLimits GetPositionUpperLimits", MUJOCO: "jnt_range actuator_ctrlrange",
        BOOKS: "joint_limits position_limits velocity_limits effort_limits torque_limits lower upper lower_limits "
        "upper_limits q_min q_max",
    }),
    Word("robot.nv", {
        RTB: "n", DRAKE: "num_velocities", MATLAB: "VelocityNumber",
        BOOKS: "dof dofs n_joints num_joints njoints ndof n_dof num_dofs degrees_of_freedom",
    }),
    Word("robot.nq", {DRAKE: "num_positions", MATLAB: "PositionNumber"}),
    Word("len(robot.links)", {RTB: "nlinks", MATLAB: "NumBodies", PIN: "nbodies njoint", DRAKE: "num_bodies"}),
    Word("len(robot.joints)", {MUJOCO: "njnt", BOOKS: "joint_count"}),
    Word("robot.joint_names", {PIN: "names", DRAKE: "GetJointNames", MUJOCO: "jnt_names", BOOKS: "joint_list"}),
    Word("robot.link_names", {
        MATLAB: "BodyNames", RTB: "link_dict", MUJOCO: "mj_id2name mj_name2id body_names", BOOKS: "body_list",
    }),
    Word("robot.mass", {
        PIN: "computeTotalMass", DRAKE: "CalcTotalMass", MUJOCO: "mj_getTotalmass body_mass",
        BOOKS: "total_mass weight masses",
    }),
    Word("robot.end_effector", {RTB: "ee_links", BOOKS: "ee tip tip_link tcp_link end_link"}),
    Word("robot.home()", {
        RTB: "qr qz", MATLAB: "homeConfiguration", PIN: "referenceConfigurations", BOOKS: "q0 home_configuration ready",
    }),
    Word("robot.neutral()", {PIN: "neutral_configuration", MUJOCO: "qpos0", BOOKS: "zero zeros zero_configuration"}),
    Word("robot.random_state(rng, shape)", {
        RTB: "random_q", MATLAB: "randomConfiguration", PIN: "randomConfiguration",
        BOOKS: "random random_configuration randq sample random_states",
    }),
    Word("robot.integrate(q, v)", {MUJOCO: "mj_integratePos", BOOKS: "retract oplus"}),
    Word("robot.difference(q0, q1)", {MUJOCO: "mj_differentiatePos", BOOKS: "subtract ominus"}),
    Word("robot.show(q)", {
        RTB: "teach", PIN: "initViewer", DRAKE: "Visualizer", MUJOCO: "viewer launch",
        BOOKS: "view visualize visualise render display draw",
    }),
    Word("robot.save(path)", {DRAKE: "ToUrdf", MUJOCO: "mj_saveLastXML", BOOKS: "to_urdf write dump export_urdf"}),
    Word('robot.compiled.kernel(name, "cuda"), or simulate(..., device="cuda")', {BOOKS: "gpu cuda to device to_gpu"}),
    Word("robot.compiled.export(target, path=...)", {
        RTB: "genccode codegenerator", BOOKS: "codegen generate_code to_c c_code generate_c",
    }),
    Word("robot.degrees", {BOOKS: "deg in_degrees use_degrees"}),
    Word("robot.textbook.with_frames_at_mass_centers()", {BOOKS: "com_frames"}),
    Word("robot.jax, or leading dimensions for a batch, which every function takes", {BOOKS: "batch vmap jit grad_fn"}),
    Word("robot.loops.mobility()", {BOOKS: "gruebler kutzbach grashof mobility_formula"}),
    Word("robot.pose(q, link)", {RTB: "A", PIN: "framePlacement", DRAKE: "EvalBodyPose"}),
    Word("robot.links[name]", {MATLAB: "getBody", DRAKE: "GetBodyByName", MUJOCO: "body", BOOKS: "link get_link"}),
    Word("robot.links", {
        RTB: "hierarchy dynamics", MATLAB: "showdetails Bodies", PIN: "inertias", MR: "Glist Mlist", BOOKS: "inertias",
    }),
    Word("robot.frames", {PIN: "nframes getFrameId existFrame", DRAKE: "GetFrameByName", MUJOCO: "site"}),
    Word("robot.scale_masses(factor)", {RTB: "perturb"}),
    Word("robot.home(), and q is an argument of every function: a robot holds no state", {
        DRAKE: "SetPositions GetPositions SetVelocities", MUJOCO: "qpos qvel mj_resetData MjData",
        BOOKS: "set_joint_positions set_q state reset",
    }),
    Word("robot.simulate(q0, duration=..., torque=..., dt=...)", {
        MUJOCO: "ctrl opt timestep actuator", DRAKE: "CreateIntegrator",
    }),
    Word("robot.joints[name]", {PIN: "getJointId", DRAKE: "GetJointByName", BOOKS: "joint get_joint"}),
    Word("robot.model", {PIN: "createData data", DRAKE: "CreateDefaultContext context"}),
    Word("cr.study(robot, motions=...)", {BOOKS: "peak_torque rms_torque max_torque"}),
    Word("robot.workspace(samples)", {BOOKS: "reachable_workspace reach workspace_map"}),
    Word("robot.loops.close(q)", {BOOKS: "close_loops solve_loops closure close_loop"}),
    Word("robot.doctor()", {BOOKS: "validate diagnose lint"}),
    Word("robot.compare(other)", {BOOKS: "diff equals isclose"}),
    Word("cr.ComputedTorque(robot, target)", {BOOKS: "computed_torque_control inverse_dynamics_control"}),
    Word("cr.PD(robot, target, kp, kd)", {BOOKS: "pd pd_control controller control"}),
    Word("cr.plan(robot, [q0, q1])", {RTB: "jtraj", MATLAB: "trapveltraj", BOOKS: "trajectory plan move move_to"}),
)  # fmt: skip
"""Names that a robot does not have."""

PACKAGE = (
    Word("cr.Robot.from_dh(rows, convention=...)", {
        RTB: "DHRobot RevoluteDH RevoluteMDH PrismaticDH SerialLink Link", BOOKS: "DH dh from_denavit dh_robot",
    }),
    Word("cr.Robot.from_screws(home=..., screws=...)", {RTB: "PoERobot", BOOKS: "POE PoE poe screws"}),
    Word("cr.load(path)", {
        RTB: "ERobot ETS models Panda UR5 Puma560", MATLAB: "importrobot loadrobot rigidBodyTree",
        PIN: "buildModelFromUrdf buildModelsFromUrdf RobotWrapper buildModelFromMJCF",
        DRAKE: "Parser AddModels AddModelFromFile MultibodyPlant", MUJOCO: "MjModel from_xml_path from_xml_string",
        BOOKS: "from_file load_robot load_urdf from_urdf_file loads open read URDF Chain load_model from_xml Model",
    }),
    Word("cr.robots()", {BOOKS: "list_robots available_robots robot_names list available names"}),
    Word("cr.build(name)", {MATLAB: "rigidBody rigidBodyJoint", BOOKS: "Joint Body RobotBuilder new_robot"}),
    Word("cr.Trajectory.load(path, robot)", {
        BOOKS: "load_motion load_trajectory read_motion Motion load_csv read_csv from_csv recording",
    }),
    Word("cr.Trajectory.from_samples(robot, t, q)", {BOOKS: "from_samples from_arrays make_trajectory"}),
    Word("cr.dataset(paths)", {BOOKS: "generate_dataset load_dataset Dataset"}),
    Word("cr.plan(robot, waypoints)", {
        RTB: "jtraj mstraj mtraj quintic lspb tpoly trapezoidal",
        MATLAB: "cubicpolytraj quinticpolytraj trapveltraj bsplinepolytraj",
        DRAKE: "PiecewisePolynomial", MR: "JointTrajectory CubicTimeScaling QuinticTimeScaling",
        BOOKS: "trajectory plan_motion Plan planner cubic",
    }),
    Word("cr.plan_pose(poses)", {RTB: "ctraj", MATLAB: "transformtraj", MR: "CartesianTrajectory ScrewTrajectory"}),
    Word("chainrule.spatial.Transform", {
        RTB: "SE3 trotx troty trotz transl rpy2tr eul2tr tr2rpy", PIN: "SE3 exp6 log6", DRAKE: "RigidTransform",
        MR: "MatrixExp6 MatrixLog6 Adjoint TransInv RpToTrans TransToRp", MATLAB: "se3 rigidtform3d",
        BOOKS: "Transform Pose trans",
    }),
    Word("chainrule.spatial.Rotation", {
        RTB: "SO3 rotx roty rotz rpy2r UnitQuaternion", PIN: "exp3 log3",
        DRAKE: "RotationMatrix RollPitchYaw", MATLAB: "so3 eul2rotm rotm2eul",
        MR: "MatrixExp3 MatrixLog3 AxisAng3", BOOKS: "rpy euler quaternion rotation_matrix Rotation Quaternion",
    }),
    Word("chainrule.spatial.Twist", {RTB: "Twist3", PIN: "Motion", MR: "VecTose3 se3ToVec ad", BOOKS: "Twist"}),
    Word("chainrule.spatial.Wrench", {PIN: "Force", DRAKE: "SpatialForce", BOOKS: "Wrench"}),
    Word("chainrule.spatial.Inertia", {PIN: "Inertia", DRAKE: "SpatialInertia", BOOKS: "SpatialInertia"}),
    Word("cr.PD(robot, target, kp, kd)", {BOOKS: "PDController PDControl Controller_PD pd JointController"}),
    Word("cr.PID(robot, target)", {DRAKE: "PidController", BOOKS: "PIDController pid"}),
    Word("cr.ComputedTorque(robot, target)", {
        DRAKE: "InverseDynamicsController", MR: "ComputedTorqueControl",
        BOOKS: "FeedbackLinearization feedback_linearization CTC InverseDynamicsControl",
    }),
    Word("cr.GravityCompensation(robot)", {DRAKE: "GravityCompensator", BOOKS: "GravityComp gravity_compensation"}),
    Word("cr.OperationalSpace(robot, target)", {BOOKS: "OSC OperationalSpaceControl TaskSpace"}),
    Word("cr.Impedance(robot, target)", {BOOKS: "Admittance AdmittanceControl ImpedanceControl Compliance"}),
    Word("cr.Controller, the base class of laws of your own", {
        BOOKS: "SlidingMode HybridForcePosition HybridControl CustomController Control",
    }),
    Word("robot.linearize(q, qd, tau), and solve_continuous_are of SciPy", {
        DRAKE: "LinearQuadraticRegulator", BOOKS: "LQR lqr iLQR ilqr",
    }),
    Word("robot.casadi, functions for an optimizer", {DRAKE: "MathematicalProgram", BOOKS: "MPC NMPC mpc optimize"}),
    Word("robot.parameters.regressor(q, qd, qdd)", {BOOKS: "AdaptiveControl adaptive"}),
    Word("robot.degrees, or np.deg2rad", {BOOKS: "deg2rad radians rad deg"}),
    Word("cr.human_arm(mass=..., height=...)", {BOOKS: "HumanArm human arm Human"}),
    Word("cr.monte_carlo(robot, draw, runs)", {BOOKS: "MonteCarloSimulation montecarlo sweep random_runs"}),
    Word("cr.study(robot, motions=...)", {BOOKS: "torque_study Study analyze"}),
    Word("cr.symbolic.Lagrangian(coordinates, kinetic, potential)", {BOOKS: "Lagrangian lagrangian euler_lagrange"}),
)  # fmt: skip
"""Names that the package does not have."""

RESULTS = (
    Word("success", {RTB: "valid", MATLAB: "Status", BOOKS: "converged solved ok is_success succeeded feasible"}),
    Word("q", {
        MATLAB: "configSol", MUJOCO: "qpos",
        BOOKS: "x solution sol joint_angles angles position positions theta configuration joint_positions q_sol joints "
        "solutions",
    }),
    Word("qd", {RTB: "qdot dq", MUJOCO: "qvel", BOOKS: "velocity velocities speeds v joint_velocities q_dot"}),
    Word("qdd", {RTB: "qddot ddq", MUJOCO: "qacc", BOOKS: "acceleration accelerations a joint_accelerations"}),
    Word("tau", {MUJOCO: "qfrc_applied ctrl", BOOKS: "torque torques effort efforts u joint_torques forces"}),
    Word("t", {BOOKS: "time times timestamps ts tt"}),
    Word("error", {RTB: "residual", BOOKS: "err errors residuals cost loss fun final_error"}),
    Word("iterations", {RTB: "searches", MATLAB: "Iterations", BOOKS: "iter iters n_iterations steps nfev nit"}),
    Word("reason", {RTB: "reason_text", MATLAB: "ExitFlag", BOOKS: "message status failure"}),
    Word("kinetic_energy", {BOOKS: "ke T_energy"}),
    Word("potential_energy", {BOOKS: "pe V_energy"}),
    Word("energy", {BOOKS: "total_energy mechanical_energy E"}),
    Word("power", {BOOKS: "powers joint_power"}),
    Word("terms", {BOOKS: "torque_terms components causes parts"}),
    Word("save", {BOOKS: "csv to_csv to_file write export dump to_npz to_json pdf to_pdf to_html to_word"}),
    Word("to_pandas", {BOOKS: "df dataframe to_dataframe DataFrame to_frame"}),
    Word("plot", {RTB: "qplot", BOOKS: "draw figure graph plot_q plot_joints plot_torque plot_torques plot_energy"}),
    Word("show", {BOOKS: "view visualize play replay render animate_3d"}),
    Word("resample", {BOOKS: "interpolate at sample interp"}),
    Word("row", {BOOKS: "rows get motion select item"}),
    Word("between", {BOOKS: "cut slice crop trim"}),
    Word("then", {BOOKS: "append concatenate join"}),
    Word("rows", {BOOKS: "table dh_rows params parameters_table"}),
    Word("column", {BOOKS: "joint columns by_joint of_joint"}),
    Word("duration", {BOOKS: "length total_time T_end"}),
    Word("statistics", {BOOKS: "stats summary"}),
    Word("volume", {BOOKS: "manipulability w"}),
    Word("lengths", {BOOKS: "radii semi_axes half_axes"}),
    Word("axes", {BOOKS: "directions principal_axes"}),
    Word("A", {BOOKS: "state_matrix"}),
    Word("B", {BOOKS: "input_matrix"}),
    Word("latex", {BOOKS: "to_latex tex as_latex"}),
    Word("dq", {BOOKS: "dtau_dq"}),
    Word("dqd", {PIN: "dtau_dv", BOOKS: "dtau_dqd dv"}),
    Word("dqdd", {PIN: "dtau_da", BOOKS: "dtau_dqdd da"}),
)  # fmt: skip
"""Names that a result does not have: what it may be called in it."""


LAWS = (
    Word("the controller itself: controller(t, q, qd)", {
        BOOKS: "update compute control step run calc output get_torque compute_torque compute_control action apply",
    }),
    Word("cr.default_gains(robot, q); a controller is given its gains when it is made: cr.PD(robot, target, kp, kd)", {
        BOOKS: "gains kp kd ki Kp Kd Ki stiffness damping P D I",
    }),
)  # fmt: skip
"""Names that a controller does not have."""

PARTS = (
    Word("com", {RTB: "r", MUJOCO: "ipos body_ipos", BOOKS: "center_of_mass cog centroid com_position"}),
    Word("inertia", {RTB: "I", MUJOCO: "body_inertia", BOOKS: "inertia_matrix inertia_tensor moment_of_inertia"}),
    Word("mass", {RTB: "m", MUJOCO: "body_mass", BOOKS: "weight"}),
    Word("joint", {BOOKS: "parent_joint"}),
    Word("its lower and upper", {RTB: "qlim", MATLAB: "PositionLimits", MUJOCO: "range", BOOKS: "limits limit bounds"}),
    Word("child", {BOOKS: "child_link link"}),
    Word("parent", {BOOKS: "parent_link"}),
    Word("lower", {BOOKS: "min q_min lower_limit limit_lower minimum"}),
    Word("upper", {BOOKS: "max q_max upper_limit limit_upper maximum"}),
    Word("velocity", {BOOKS: "max_velocity velocity_limit speed speed_limit qd_max"}),
    Word("effort", {BOOKS: "max_torque torque_limit effort_limit torque max_effort max_force"}),
    Word("viscous", {RTB: "B", MUJOCO: "damping dof_damping"}),
    Word("coulomb", {RTB: "Tc", MUJOCO: "frictionloss", BOOKS: "friction dry_friction"}),
    Word("rotor", {RTB: "Jm", BOOKS: "rotor_inertia motor_inertia"}),
    Word("gear", {RTB: "G", BOOKS: "gear_ratio ratio transmission"}),
    Word("origin", {BOOKS: "pose transform T placement X offset_pose"}),
)  # fmt: skip
"""Names that a link, joint or frame does not have: what it may be called there."""


def plain(name: str) -> str:
    """A name without case and marks between words: massMatrix, mass_matrix and Mass-Matrix are one."""
    return name.replace("_", "").replace("-", "").replace(" ", "").casefold()


def unknown_attribute_of_result(result: object, name: str) -> UnknownAttributeError:
    """The error for a name that a result does not have: what the result calls it, or what it has."""
    return unknown_attribute(result, name, RESULTS)


def unknown_attribute(
    owner: object, name: str, table: tuple[Word, ...], what: str | None = None
) -> UnknownAttributeError:
    """The error for a name that an object does not have: what it is called here by the table, or what there is.

    what: the object in words, such as "a joint"; by its class unless given.
    """
    kind = type(owner)
    if hasattr(kind, name):  # a property that failed; its own error says why
        object.__getattribute__(owner, name)
    known = [own for own in dir(owner) if not own.startswith("_")]
    words = called_here(name, table)
    here = [f".{own}" for own in words if own in known] or [word for word in words if not word.isidentifier()]
    close = nearest(name, known)
    hint = f"use {here[0]}" if here else f"did you mean {close!r}?" if close else f"it has {quoted(known, 30)}"
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    return UnknownAttributeError(f"{what or f'{article} {kind.__name__}'} has no attribute {short_repr(name)}; {hint}")


@cache
def _places(table: tuple[Word, ...]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What each word is called here: by the word itself, and without case."""
    exact: dict[str, list[str]] = {}
    alike: dict[str, list[str]] = {}
    for word in table:
        for other in word.words():
            exact.setdefault(other, []).append(word.here)
            alike.setdefault(plain(other), []).append(word.here)
    return exact, alike


def called_here(name: str, table: tuple[Word, ...]) -> list[str]:
    """Names here for a word of others; none where the table does not have it.

    >>> called_here("FKINE", ROBOT)
    ['robot.pose(q)']
    """
    exact, alike = _places(table)
    return exact.get(name) or alike.get(plain(name), [])


def markdown() -> str:
    """The table of words for documentation, in Markdown: a row for each name here, a column for each source."""
    lines = ["| here | " + " | ".join(SOURCES) + " |", "| --- " * (len(SOURCES) + 1) + "|"]
    for word in (*ROBOT, *PACKAGE):
        cells = (", ".join(f"`{other}`" for other in word.others.get(source, "").split()) for source in SOURCES)
        lines.append(f"| `{word.here}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)
