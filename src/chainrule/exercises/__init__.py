"""Problem sheets with numbers and their solutions, by kind, robot and seed.

How to add a kind of problem, for example "workspace":

1. Write a function in the file of its subject that takes a robot and a source of random numbers, and returns a
   `Problem`: the words, the given numbers as blocks, and the questions with their answers.
2. List it in `KINDS` of `exercises/kinds.py` with its title and the robot that it takes by default.
"""
