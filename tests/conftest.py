"""Which path the tests take: the algorithms' own tests take the reference path, the rest the compiled one.

The longest cases of tests whose other cases say nearly the same are left to `make test-all`.
"""

import pytest

REFERENCE = {
    "algorithms.test_identities", "algorithms.test_peers", "algorithms.test_printed_numbers", "model.test_edits",
    "spatial.test_scalars", "formats.test_formats", "formats.test_mjcf", "formats.test_bad_files",
    "formats.test_bad_native", "formats.test_bad_tables", "formats.test_bad_urdf", "formats.test_large_files",
    "core.test_bad_arguments", "robot.test_bad_edits", "robot.test_bad_human", "cli.test_bad_commands",
}  # fmt: skip

LONG_CASES = (
    "test_compiled_rollouts_equal_the_text_they_are_made_of[rk4-3]",
    "test_compiled_rollouts_equal_the_text_they_are_made_of[implicit_midpoint-1]",
    "test_forward_dynamics_undoes_inverse_dynamics_with_wrenches[stewart_platform]",
    "test_random_loops_take_wrenches_in_base_axes",
    "test_a_joint_cut_open_and_tied_again_moves_as_before",
    "test_merged_links_hand_their_geometry_on_in_place",
    "test_pinocchio_agrees[talos-by rule]",
    "test_mujoco_agrees[baxter-by rule]",
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
)
"""Names of tests, each of eight seconds or more on one core."""


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
