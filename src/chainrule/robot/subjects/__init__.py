"""Subjects of a robot: `robot.loops`, `robot.ik`, .. Each is a class that lists functions; imported when first used."""
