"""Charts of the page as HTML and MathML: pure functions from numbers to text. All names are escaped here."""
