"""Which path the tests take: the tests of algorithms, files and orders of states take the reference path, the rest the
compiled one.

The longest cases of tests whose other cases say nearly the same are left to `make test-all`.
"""

import pytest

REFERENCE = {
    "algorithms.test_identities", "algorithms.test_peers", "algorithms.test_printed_numbers", "model.test_edits",
    "spatial.test_scalars", "formats.test_formats", "formats.test_mjcf", "formats.test_bad_files",
    "formats.test_bad_native", "formats.test_bad_tables", "formats.test_bad_urdf", "formats.test_large_files",
    "core.test_bad_arguments", "robot.test_bad_edits", "robot.test_bad_human", "cli.test_bad_commands",
    "kinematics.test_orders", "kinematics.test_frames", "formats.test_mujoco", "formats.test_pinocchio",
    "model.test_geometry",
}  # fmt: skip

LONG_CASES = (
    "test_compiled_rollouts_equal_the_text_they_are_made_of[rk4-3]",
    "test_compiled_rollouts_equal_the_text_they_are_made_of[implicit_midpoint-1]",
    "test_forward_dynamics_undoes_inverse_dynamics_with_wrenches[stewart_platform]",
    "test_random_loops_take_wrenches_in_base_axes",
    "test_a_joint_cut_open_and_tied_again_moves_as_before",
    "test_every_term_is_the_kernels[puma560-symbolic]",
    "test_every_term_is_the_kernels[stanford-symbolic]",
    "test_base_parameters_say_the_same_in_fewer_words[puma560]",
    "test_the_velocity_terms_are_the_rate_of_g_times_qd",
    "test_wrenches_of_the_constraints_project_to_g_transposed_lambda",
    "test_laws_compiled_and_called_agree_on_random_states[floating base]",
    "test_float32_is_float64_with_fewer_digits[100-sticking_dynamics]",
    "test_linkages_are_held_against_their_weight[stewart_platform]",
    "test_joint_wrenches_include_the_forces_of_the_loops[stewart_platform]",
    "test_matrices_of_a_wide_tree_on_a_free_base",
    "test_reduced_it_is_the_mass_matrix_and_the_bias",
    "test_jax_tracers_give_the_value_that_floats_give_and_a_gradient",
    "test_every_example_of_every_help_runs[chainrule study human-arm --activities all --report out.html]",
    "test_every_example_of_every_help_runs[chainrule study human-arm --activities drink_with_cup --subjects 8 --workers 2]",
    "test_intermediate_variables_compute_the_same[panda]",
    "test_a_robot_is_possible_and_moves[stewart_platform]",
    "test_more_limits_take_longer",
    "test_the_linear_system_is_the_derivative_of_the_equations",
    "test_poses_and_jacobians_are_the_kernels[puma560]",
    "test_screws_off_the_origin_and_numeric_parameters[newton-euler]",
    "test_screws_off_the_origin_and_numeric_parameters[rnea]",
    "test_a_padded_file_loads_as_without_its_padding[visuals-5]",
    "test_the_kernel_of_every_function_is_its_reference_on_ugly_robots[100-inverse_dynamics_second_derivatives]",
    "test_the_link_comes_to_its_pose[impedance]",
    "test_compiled_functions_are_the_reference_path[stewart_platform]",
    "test_accelerations_keep_the_loops_closed_and_the_forces_do_no_work",
    "test_compiled_rollouts_equal_the_text_they_are_made_of[rk4-1]",
    "test_the_link_comes_to_its_pose[operational space]",
    "test_joints_that_cannot_drive_a_motion_are_named",
    "test_float32_is_float64_with_fewer_digits[100-inverse_dynamics_second_derivatives]",
    "test_bundled_loops_reduced_and_as_one_sparse_system_move_alike[stewart_platform]",
    "test_every_function_is_the_reference_path_to_rounding_on_random_trees[2-inverse_dynamics_second_derivatives]",
    "test_energy_is_accounted_for_with_everything_a_joint_can_carry[3]",
    "test_forward_then_inverse_dynamics_round_trips_with_friction_stops_springs_and_rotors[3]",
    "test_power_in_is_energy_gained[stewart_platform]",
    "test_every_example_of_every_help_runs[chainrule study human-arm --activities drink_with_cup,comb_hair --subjects 5 --json]",
    "test_ties_are_closed_where_they_were_tied",
    "test_the_rows_of_g_are_the_gradients_of_the_residual_closed_or_not",
    "test_held_joints_move_as_told_and_the_excess_is_what_holds_them",
    "test_the_round_trip_is_exact",
    "test_loops_stand_beside_joints_in_the_same_system",
    "test_a_link_is_pushed_by_an_arrow_and_singular_postures_are_told",
    "test_switches_of_the_view_change_the_picture",
    "test_the_legs_carry_the_plate",
    "test_static_torques_do_the_work_of_the_wrench[stewart_platform]",
    "test_bundled_mechanisms[stewart_platform]",
    "test_two_robots_side_by_side",
    "test_equations_have_the_present_numbers_and_findings_show_their_elements",
    "test_a_simulation_is_held_pushed_looked_back_at_and_ends_with_its_tab",
    "test_every_term_is_the_kernels[puma560-numeric]",
    "test_c_compiles_without_a_warning_and_gives_the_kernels_numbers[puma560-numeric]",
    "test_screws_off_the_origin_and_numeric_parameters[closed-form]",
    "test_poses_and_jacobians_are_the_kernels[stanford]",
    "test_intermediate_variables_compute_the_same[stanford]",
    "test_compiled_rollouts_equal_the_text_they_are_made_of[implicit_midpoint-0]",
    "test_every_reachable_point_is_reached[32]",
    "test_the_browser_needs_the_token",
    "test_closed_forms_are_compared_with_peers",
    "test_every_example_of_every_help_runs[chainrule study human-arm --activities 2 --mass 60 --height 1.6 --sex female --side left]",
)
"""Names of tests, each of five seconds or more on one core."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.name in LONG_CASES:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Tests neither use nor fill the cache of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAINRULE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))  # where the cache's secret lies
        yield


@pytest.fixture(autouse=True, scope="module")
def chosen_path(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ in REFERENCE:
            patch.setenv("CHAINRULE_KERNELS", "off")
        yield


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write golden files anew")
