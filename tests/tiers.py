"""Cases of a test that are left to `make test-all`: the longest ones, where the others prove nearly the same."""

import pytest


def with_slow(cases, *slow):
    """The cases of a parametrized test, those in `slow` marked; a case of several arguments is a tuple."""
    cases = list(cases)
    unknown = [case for case in slow if case not in cases]
    assert not unknown, f"no cases of this test: {unknown}"
    as_tuple = {case: case if isinstance(case, tuple) else (case,) for case in cases}
    return [pytest.param(*values, marks=[pytest.mark.slow] * (case in slow)) for case, values in as_tuple.items()]
