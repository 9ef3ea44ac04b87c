"""Source text from tapes: LLVM IR for the CPU, C."""
