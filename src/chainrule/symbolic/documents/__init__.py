"""Documents of text and formulas, and the formats they are written in."""
