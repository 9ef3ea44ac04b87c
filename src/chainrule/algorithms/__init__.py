"""Algorithms: one in each file, over generic scalars. They import nothing but the spatial algebra and the model.

How to add an algorithm:

1. Write it in a file of this folder as a function `f(model, q, qd, ...)` of lists of scalars. Loop over `model.at(q)`,
   where each body has its pose `T` in its parent and its joint's screws `S`; use the functions of
   `chainrule.spatial.scalar` instead of those of `math`, so that floats, arrays, symbols and tracers all work.
2. Give it an entry in `chainrule.functions.table.FUNCTIONS`: the arguments it takes, the shape it gives, its options,
   what it needs and what it costs. From then on it is evaluated, compiled, exported and benchmarked by its name.
3. Write a free function of a robot in the package of its subject, which calls `robot.evaluate("f", q=q, qd=qd)`, and
   list it in `chainrule.robot.robot.Robot`.
4. Prove it by an identity on the random trees of `tests/trees.py`.

tests/algorithms/test_recipe_algorithm.py follows these steps from outside the package. Kernels on disk are kept
by the text of this package: while a text outside of it still changes, set CHAINRULE_KERNELS=off.
"""
