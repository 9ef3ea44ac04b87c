"""Printing of expressions and formulas, and documents made of them in several forms."""
