"""Observers: what is not measured, from what is, one traced step with a memory for each sample."""
