"""Compiled code as callables of NumPy, CPython and XLA: generalized ufuncs, builtins, the array call, handlers."""
