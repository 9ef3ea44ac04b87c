"""The test of an error: raised, of the library, and saying what it should."""

import pytest

import chainrule as cr


def refused(call, error, pattern):
    """The call raises an error of the library that is also a ValueError, and says what the pattern says."""
    with pytest.raises(error, match=pattern) as caught:
        call()
    assert isinstance(caught.value, cr.ChainruleError)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)
