"""Measurements of `chainrule bench` and of the scripts in `benchmarks/`.

`timing` has the clock and the random states, `peers` the same functions in other libraries, `kernels` our own,
`machine` what one core can do, `figures` the files of results and the plot. Times are the best of several
repetitions; what holds from machine to machine are the ratios.
"""
