"""CUDA: source text from tapes, its compilation and launch, kernels and loops on arrays of graphics processors."""
