"""
Drinking from a cup
===================

What the joints of an arm do in an activity of daily living: angles, speeds, accelerations, torques by part.
"""

from chainrule import study

result = study.run(study.Subject.human(mass=80, height=1.8), ["drink_with_cup"], rate=200)
figure = result.plot("drink_with_cup", joints=["shoulder_flexion", "elbow_flexion"])
