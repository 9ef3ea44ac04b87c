"""Sizes of closed forms: estimates before anything is computed, and refusals that name them."""

import pytest

import chainrule as cr
from chainrule.errors import ModelError
from chainrule.symbolic.algebra.ring import Element
from chainrule.symbolic.closed_form.size_estimate import QUANTITIES, count_terms_of
from chainrule.symbolic.closed_form.terms import Terms
from chainrule.symbolic.derivations import lagrange

pytestmark = pytest.mark.interpreted


ATTRIBUTES = {"kinetic_energy": "kinetic", "potential_energy": "potential", "tau": "newton_euler"}


def exact_size(entries):
    if isinstance(entries, Element):
        return len(entries.prune().terms)
    return sum(map(exact_size, entries)) if isinstance(entries, (list, tuple)) else 0


@pytest.mark.parametrize("term", QUANTITIES)
@pytest.mark.parametrize("name", ["scara", "stanford"])
def test_estimates_are_near(name, term):
    own = cr.load(name).equations()
    exact = exact_size(getattr(own.elements, ATTRIBUTES.get(term, term)))
    assert count_terms_of(term, own.symbolic, 1000) == pytest.approx(exact, rel=0.1, abs=3)


@pytest.mark.parametrize(("term", "size"), [("C", r"about 2,\d00,000 terms"), ("tau", r"about 2\d0,000 terms")])
def test_what_is_too_long_is_refused_before_it_is_computed(term, size, monkeypatch):
    def fail(self):
        raise AssertionError("it was computed")

    for attribute in ("M", "christoffel", "g"):
        monkeypatch.setattr(Terms, attribute, property(fail))
    with pytest.raises(ModelError, match=size):
        getattr(cr.load("panda").equations(), term)
    with pytest.raises(ModelError, match="about"):
        str(cr.load("panda").equations())
    with pytest.raises(ModelError, match="about"):
        cr.load("panda").equations().in_base_parameters()


def test_a_derivation_that_is_too_long_is_refused_before_its_steps(monkeypatch):
    real = lagrange._energies

    def fail(model, q, qd):
        assert not isinstance(q[0], Element), "the energies were computed"
        return real(model, q, qd)

    monkeypatch.setattr(lagrange, "_energies", fail)
    with pytest.raises(ModelError, match=r"about 17,000 terms, by an estimate"):
        cr.load("puma560").derivation("lagrange")
    with pytest.raises(ModelError, match=r"Newton-Euler equations have about 8\d,000 terms"):
        cr.load("puma560").derivation("newton-euler")
