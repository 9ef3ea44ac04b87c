"""Algorithms: one in each file, over generic scalars. They import nothing but the spatial algebra and the model.

How to add an algorithm:

1. Write it in a file of this folder as a function `f(model, q, qd, ...)` of lists of scalars. Loop over `model.at(q)`,
   where each body has its pose `T` in its parent and its joint's screws `S`; use the functions of
   `chainrule.spatial.scalar` instead of those of `math`, so that floats, arrays, symbols and tracers all work.
2. Declare it in the package of its subject, with `chainrule.core.declaration.function`: a function of a robot with a
   docstring, and beside it the algorithm, the arguments it takes, what it gives, its options, what it needs and costs.
   From then on it is evaluated, compiled, exported, differentiated and benchmarked by its name. List it in
   `chainrule.robot.robot.Robot`, or in the class of its subject.
3. Prove it by an identity on the random trees of `tests/trees.py`.

tests/algorithms/test_recipe_algorithm.py follows these steps from outside the package. Kernels on disk are kept
by the code of this package: while code outside of it still changes, set CHAINRULE_KERNELS=off.
"""
