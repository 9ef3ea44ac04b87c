"""SDFormat (SDF), the files of Gazebo and Drake: models with links, joints, frames, nested and included models."""

from chainrule.formats.sdf.reader import from_sdf

__all__ = ["from_sdf"]
