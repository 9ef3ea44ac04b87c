"""Which path the tests take: the algorithms' own tests take the reference path, the rest the compiled one."""

import pytest

REFERENCE = {
    "algorithms.test_identities", "algorithms.test_peers", "algorithms.test_printed_numbers", "model.test_edits",
    "spatial.test_scalars", "formats.test_formats", "formats.test_mjcf", "formats.test_bad_files",
    "formats.test_bad_native", "formats.test_bad_tables", "formats.test_bad_urdf", "formats.test_large_files",
    "core.test_bad_arguments", "robot.test_bad_edits", "robot.test_bad_human", "cli.test_bad_commands",
}  # fmt: skip


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
