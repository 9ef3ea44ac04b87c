"""The arm that most of these tests move."""

import pytest

import chainrule as cr


@pytest.fixture(scope="module")
def arm():
    return cr.load("double_pendulum")
