"""Which path the tests take: the algorithms' own tests take the reference path, the rest the compiled one."""

import pytest

REFERENCE = {
    "test_identities", "test_peers", "test_edits", "test_formats", "test_bad_input", "test_mjcf", "test_scalars", "test_numbers",
}  # fmt: skip


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Tests neither use nor fill the cache of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAINRULE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="module")
def chosen_path(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ in REFERENCE:
            patch.setenv("CHAINRULE_KERNELS", "off")
        yield


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write golden files anew")
