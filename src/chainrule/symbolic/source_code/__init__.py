"""Source code of symbolic matrices in several languages."""
