"""Identification: the numbers of a robot in which its torques are linear, and those of them that motions tell apart."""
