"""Tests of chainrule.simulation."""
