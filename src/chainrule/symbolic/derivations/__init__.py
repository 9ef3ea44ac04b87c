"""Derivations of the equations of motion, step by step: a file for each method."""
