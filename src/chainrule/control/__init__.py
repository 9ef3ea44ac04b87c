"""Motions to follow, and the controllers that follow them."""
