"""Source text from tapes: LLVM IR for the CPU, C, JavaScript.

How to add a target of compilation

1. A tape (`chainrule.compile.tape.Tape`) is all that a target reads: the lengths of its inputs, its instructions, each
   with one value that is set once from values before it, and the places of its outputs. `chainrule.compile.trace.trace`
   makes it from a function of the table and a model.
2. Write an emitter: a function from tapes, by the names of their functions, to text. Go through the instructions in
   order. `input` is entry `entry` of argument `argument`, `constant` a number; `tape.OPERATIONS` lists all others with
   their operands and what they mean. `codegen/c.py` is the shortest example.
3. Write numbers with `repr`, which is exact, and no name from a model into the code.
4. For a target that is written to files, make a `targets.Target` of the suffix and a function that gives the texts of
   all files from the path, the tapes and what is known of the robot, and `targets.register` it.
   `robot.compiled.export("its name", path=...)` then finds it. Begin each file with a comment that holds
   `targets.MARK`: files without it are not overwritten.
5. For a target that runs in this process, write its modules here, load them in `runtime/`, keep what was built with
   `memory_cache.keep`, and give it the methods of `backend.Backend`.
6. Test that the emitter knows every entry of `tape.OPERATIONS`, and compare numbers with `robot.reference`:
   tests/compile/test_recipe_target.py does both for Python text.
"""
