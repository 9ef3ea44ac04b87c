"""Expressions: trigonometric polynomials, factors, canonical forms, units, numbers for symbols, tapes as formulas."""
