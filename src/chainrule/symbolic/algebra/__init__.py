"""Scalars and names that closed forms are made of: trigonometric polynomials, factors, symbols, units."""
