import pytest

from chainrule import study


@pytest.fixture(scope="session")
def person():
    return study.Subject.human()


@pytest.fixture(scope="session")
def few(person):
    """Three activities of one person, at a low rate."""
    return study.run(person, ["reach_head_level", "drink_with_cup", "open_door"], rate=200)
