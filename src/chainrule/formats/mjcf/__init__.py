"""MuJoCo XML files."""

from chainrule.formats.mjcf.reader import from_mjcf

__all__ = ["from_mjcf"]
