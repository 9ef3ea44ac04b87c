"""One real cluster of two processes for all tests of this folder that only use it; those that break one start their own."""

import logging

import pytest


@pytest.fixture(scope="package")
def client():
    pytest.importorskip("distributed", reason="Dask is not installed")
    from chainrule.cluster.client import connect

    logging.getLogger("distributed").setLevel(logging.ERROR)
    with connect(workers=2) as client:
        yield client
