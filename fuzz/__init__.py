"""A fuzzer for everything that chainrule reads: robot files, meshes, trajectories, cache entries and command lines.

`python -m fuzz --help` says how to run it, `make fuzz` runs it by hand for as long as wanted, and tests/fuzz has a
short run with a fixed seed. docs/reliability.md has what was tried and found.

    targets.py     what is fuzzed: a function of bytes for each format, and its first inputs
    recordings.py  the same for recorded motions, markers and data sets
    page.py        the same for values of the controls on the page of the studio
    registry.py    the list of all of them
    mutate.py      new inputs from old ones: bytes, tokens, XML trees, documents, archives, command lines
    guard.py       one input under guard: time, memory, and what may come out of it
    worker.py      a process that runs inputs, target after target, and keeps those that led somewhere new
    campaign.py    worker processes, watched from outside: crashes and hangs are noticed and their inputs kept
    minimize.py    a finding made small
    counters.py    counts of a run as JSON, added up over runs
    report.py      the table in docs/reliability.md
    guided.py      the same targets under atheris, where that is installed
    corpus/        inputs that once led to an error, one folder for each target
"""
