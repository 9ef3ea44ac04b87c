"""Evaluation: a model and its functions, arguments checked, compiled or as written."""
