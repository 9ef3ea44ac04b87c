"""The functions of a robot inside PyTorch, JAX and CasADi, with derivatives by compiled kernels."""
