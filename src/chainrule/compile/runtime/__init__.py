"""The runtime of compiled code in this process: LLVM's JIT, the caches in memory and on disk, threads."""
