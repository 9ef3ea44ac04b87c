"""Small robots as text, which tests spoil."""

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
URDF = f"""<robot name="r"><link name="base"/>
<link name="a"><inertial><origin xyz="0 0 1" rpy="0 0 0"/><mass value="1"/>{INERTIA}</inertial></link>
<joint name="j" type="revolute"><origin xyz="0 0 0" rpy="0 0 0"/><parent link="base"/><child link="a"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="5" velocity="5"/><dynamics damping="0.1" friction="0.2"/></joint>
</robot>"""
SECOND = """<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="k" type="continuous"><parent link="a"/><child link="b"/>{}</joint></robot>"""

BODY = {"mass": 1.0, "com": [0, 0, 0.1], "inertia": [1, 1, 1, 0, 0, 0]}
DOCUMENT = {
    "format": "chainrule 1", "name": "r", "gravity": [0, 0, -9.81], "end_effector": "tip", "notes": ["n"],
    "link": [{"name": "base"}, *({"name": name, **BODY} for name in "abcd")],
    "joint": [
        {"name": "j", "type": "revolute", "parent": "base", "child": "a", "axis": [0, 0, 1],
         "origin": {"xyz": [0, 0, 0], "rpy": [0, 0, 0]}, "lower": -1, "upper": 1, "velocity": 1, "effort": 1,
         "viscous": 0.1, "coulomb": 0.1, "coulomb_negative": 0.1, "rotor": 0.1, "gear": 2, "stiffness": 1, "rest": 0},
        {"name": "k", "type": "helical", "parent": "a", "child": "b", "axis": [0, 0, 1], "pitch": 0.1,
         "offset": {"xyz": [0, 0, 1], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
         "mimic": {"joint": "j", "multiplier": 2, "offset": 0.1}},
        {"name": "u", "type": "universal", "parent": "b", "child": "c", "axis": [0, 0, 1], "axis2": [1, 0, 0],
         "dof": [{"lower": -1, "upper": 1}, {"viscous": 0.1}]},
        {"name": "s", "type": "screw", "parent": "c", "child": "d", "screw": [0, 0, 1, 0, 0, 0.1]},
    ],
    "frame": [{"name": "tip", "link": "d", "origin": {"xyz": [0, 0, 1]}}],
}  # fmt: skip
DOCUMENT_TOML = 'format = "chainrule 1"\nname = "r"\n[[link]]\nname = "base"\n'
