# The public names of chainrule.symbolic: written here once, for type checkers, editors and `__init__.py`.
from chainrule.symbolic.algebra.ring import contract as contract
from chainrule.symbolic.answers.answer import Answer as Answer
from chainrule.symbolic.answers.unit_check import check_units as check_units
from chainrule.symbolic.closed_form.equations import Equations as Equations
from chainrule.symbolic.closed_form.kinematics import KinematicEquations as KinematicEquations
from chainrule.symbolic.closed_form.pose_vector import pose_from_vector as pose_from_vector
from chainrule.symbolic.closed_form.pose_vector import vector_from_pose as vector_from_pose
from chainrule.symbolic.documents.document import Document as Document
from chainrule.symbolic.lagrange.bodies import Friction as Friction
from chainrule.symbolic.lagrange.bodies import PointMass as PointMass
from chainrule.symbolic.lagrange.bodies import RigidBody as RigidBody
from chainrule.symbolic.lagrange.bodies import Spring as Spring
from chainrule.symbolic.lagrange.bodies import generalized_force as generalized_force
from chainrule.symbolic.lagrange.conserved import ConservedQuantity as ConservedQuantity
from chainrule.symbolic.lagrange.coordinates import coordinates as coordinates
from chainrule.symbolic.lagrange.lagrangian import Lagrangian as Lagrangian
from chainrule.symbolic.lagrange.linearization import Linearization as Linearization
