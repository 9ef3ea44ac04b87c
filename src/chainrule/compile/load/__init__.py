"""Machine code in this process: LLVM, the cache on disk, NumPy ufuncs, threads."""
