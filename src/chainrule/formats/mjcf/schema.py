"""The elements that MJCF has: their attributes, the elements inside them, and how often these may come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from chainrule.errors import quoted
from chainrule.formats.mjcf.document import Document
from chainrule.formats.xml import Node

GROUPS = {
    "TURN": "quat axisangle euler xyaxes zaxis",
    "POSE": "pos TURN",
    "LIMIT": "limited range margin solreflimit solimplimit solreffriction solimpfriction frictionloss",
    "JOINT": (
        "type group pos axis springdamper LIMIT stiffness actuatorfrcrange actuatorfrclimited actuatorgravcomp ref "
        "springref springyield armature damping user"
    ),
    "GEOM": (
        "POSE type contype conaffinity condim group priority size material rgba castshadow friction mass density "
        "shellinertia solmix solref solimp margin gap surfacevel adhesion fromto hfield mesh fitscale fluidshape "
        "fluidcoef user"
    ),
    "SITE": "POSE type group material mesh size fromto rgba user",
    "CAMERA": (
        "POSE focal focalpixel fovy ipd mode output principal principalpixel projection resolution sensorsize user"
    ),
    "LIGHT": (
        "active ambient attenuation bulbradius castshadow cutoff diffuse dir directional exponent intensity mode pos "
        "range softness specular type"
    ),
    "TEXTURE": (
        "builtin colorspace embed gridlayout gridsize height hflip mark markrgb nchannel random rgb1 rgb2 type vflip "
        "width"
    ),
    "MATERIAL": "emission metallic reflectance rgba roughness shininess specular texrepeat texture texuniform",
    "PAIR": "adhesion condim friction gap margin solimp solref solreffriction",
    "EQUALITY": "active solref solimp",
    "TENDON": (
        "LIMIT actuatorfrclimited actuatorfrcrange armature damping group springlength springyield stiffness user"
    ),
    "SIGNAL": "group delay interp nsample user",
    "ROTOR": "armature damping gear cranklength",
    "CTRL": "ctrlrange ctrllimited",
    "FORCE": "forcerange forcelimited",
    "MOTOR": "SIGNAL ROTOR CTRL FORCE",
    "ACT": "actrange actlimited",
    "GENERAL": (
        "MOTOR ACT actdim actearly biasprm biastype dynprm dyntype ffrange gainprm gaintype inheritrange input velrange"
    ),
    "SERVO": "MOTOR kp kv dampratio inheritrange",
    "ORIENT": "SIGNAL FORCE ctrlrange dampratio input kp kv",
    "PID": "SERVO ffrange imax input ki posrange slewmax velrange",
    "DAMPER": "SIGNAL ROTOR FORCE ctrlrange kv",
    "CYLINDER": "MOTOR area bias diameter timeconst",
    "MUSCLE": "MOTOR force fpmax fvmax lmax lmin range scale timeconst vmax",
    "ADHESION": "SIGNAL FORCE ctrlrange gain",
    "DCMOTOR": (
        "SIGNAL ROTOR CTRL cogging controller inductance input lugre motorconst nominal resistance saturation thermal"
    ),
    "ON": "name class joint jointinparent tendon slidersite cranksite lengthrange",
    "ONSITE": "ON site refsite",
    "SENSE": "name cutoff delay interp interval noise nsample user",
    "BODY": "name childclass mocap gravcomp sleep simple fuse user POSE",
    "FLEXCONTACT": (
        "activelayers conaffinity condim contype friction gap margin passive priority selfcollide solimp solmix solref"
    ),
    "ELASTIC": "damping elastic2d poisson section sectionsize shear thickness yield young",
    "SKIN": "face file group inflate material name rgba texcoord vertex",
}
"""Lists of attributes that several elements share; a list may name another."""

TABLE = """
mujoco model
  compiler alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict convexhull coordinate
  .   discardvisual eulerseq fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir passthrough savecanonical
  .   savecompiled saveinertial settotalmass strippath texturedir usethread
    lengthrange? accel interval inttotal maxforce mode timeconst timestep tolrange useexisting uselimit
  option actuatorgroupdisable apirate ccd_iterations ccd_tolerance cone density gravity impratio integrator iterations
  .   jacobian ls_iterations ls_tolerance magnetic noslip_iterations noslip_tolerance o_friction o_margin o_solimp
  .   o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance viscosity wind
    flag? actuation autoreset clampctrl constraint contact damper diagexact energy equality eulerdamp filterparent
    .   frictionloss fwdinv gravity invdiscrete ipc island limit midphase multiccd nativeccd override refsafe sensor
    .   sleep speculative spring warmstart
  size memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor nuser_site
  .   nuser_tendon nuserdata
  statistic center extent meaninertia meanmass meansize
  visual
    global? azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth offheight offwidth orthographic
    .   realtime
    quality? numquads numslices numstacks offsamples shadowsize
    headlight? active ambient diffuse specular
    map? actuatortendon alpha fogend fogstart force haze shadowclip shadowscale stiffness stiffnessrot torque zfar znear
    scale? actuatorlength actuatorwidth camera com connect constraint contactheight contactwidth forcewidth framelength
    .   framewidth frustum jointlength jointwidth light selectpoint slidercrank
    rgba? actuator actuatornegative actuatorpositive bv bvactive camera com connect constraint contactforce
    .   contactfriction contactgap contactpoint contacttorque crankbroken fog force frustum haze inertia joint light
    .   rangefinder selectpoint slidercrank
  default class
    mesh? inertia maxhullvert scale
    texture? TEXTURE
    material? MATERIAL
      layer role texture
    joint? JOINT
    geom? GEOM
    site? SITE
    camera? CAMERA
    light? LIGHT
    pair? PAIR
    equality? EQUALITY
    tendon? TENDON material rgba width
    general? GENERAL
    motor? MOTOR
    position? SERVO timeconst
    velocity? MOTOR kv
    intvelocity? SERVO ACT
    orientation? ORIENT
    pid? PID
    damper? DAMPER
    cylinder? CYLINDER
    muscle? MUSCLE
    adhesion? ADHESION
    dcmotor? DCMOTOR
    default @default
  extension
    plugin plugin
      instance name
        config key value
  asset
    mesh name class content_type file scale inertia smoothnormal maxhullvert vertex normal texcoord face refpos refquat
    .   builtin params material
      plugin @plugin
    hfield content_type elevation file name ncol nrow size
    skin SKIN
      bone bindpos bindquat body vertid vertweight
    texture TEXTURE class content_type file fileback filedown filefront fileleft fileright fileup name
    material MATERIAL class name
      layer role texture
    model content_type file name
  worldbody
    * @body
  contact
    pair PAIR class geom1 geom2 name
    exclude body1 body2 name
  deformable
    flex body cellcount dim dof element elemtexcoord flatskin group material name node nodecoord radius rgba texcoord
    .   vertex
      contact? FLEXCONTACT
      edge? damping stiffness
      elasticity? ELASTIC
    skin SKIN
      bone bindpos bindquat body vertid vertweight
  tendon
    spatial TENDON name class material rgba width
      site site
      geom geom sidesite
      pulley divisor
    fixed TENDON name class
      joint coef joint
  equality
    connect EQUALITY name class body1 body2 anchor site1 site2
    weld EQUALITY name class body1 body2 anchor site1 site2 relpose torquescale
    joint EQUALITY name class joint1 joint2 polycoef
    tendon EQUALITY name class tendon1 tendon2 polycoef
    flex EQUALITY name class flex
    flexstrain EQUALITY name class flex cell
  actuator
    general GENERAL ONSITE body
    motor MOTOR ONSITE
    position SERVO ONSITE timeconst
    velocity MOTOR ONSITE kv
    intvelocity SERVO ACT ONSITE
    orientation ORIENT name class joint site refsite
    pid PID ONSITE
    damper DAMPER ONSITE
    cylinder CYLINDER ONSITE
    muscle MUSCLE ON tausmooth
    adhesion ADHESION name class body
    dcmotor DCMOTOR ONSITE
    plugin MOTOR ACT ON site actdim actearly dynprm dyntype plugin instance
      config key value
  sensor
    touch|accelerometer|velocimeter|gyro|force|torque|magnetometer SENSE site
    camprojection SENSE site camera
    rangefinder SENSE site camera data
    jointpos|jointvel|jointactuatorfrc|jointlimitpos|jointlimitvel|jointlimitfrc|ballquat|ballangvel SENSE joint
    tendonpos|tendonvel|tendonactuatorfrc|tendonlimitpos|tendonlimitvel|tendonlimitfrc SENSE tendon
    actuatorpos|actuatorvel|actuatorfrc SENSE actuator
    framepos|framequat|framexaxis|frameyaxis|framezaxis|framelinvel|frameangvel SENSE objtype objname reftype refname
    framelinacc|frameangacc SENSE objtype objname
    subtreecom|subtreelinvel|subtreeangmom SENSE body
    insidesite SENSE site objtype objname enclosed
    distance|normal|fromto SENSE body1 body2 geom1 geom2
    contact SENSE body1 body2 geom1 geom2 subtree1 subtree2 site data num reduce
    e_potential|e_kinetic|clock SENSE
    tactile name cutoff delay interp interval nsample user geom mesh
    user name cutoff noise user datatype dim needstage objtype objname
    plugin name cutoff user objtype objname reftype refname plugin instance
      config key value
  custom
    numeric name data size
    text name data
    tuple name
      element objtype objname prm
  keyframe
    key name time qpos qvel act mpos mquat ctrl plastic

body BODY
  inertial? mass diaginertia fullinertia POSE
  joint JOINT name class
  freejoint name group align
  geom GEOM name class
    plugin @plugin
  site SITE name class
  camera CAMERA name class target
  light LIGHT name class target texture
  attach body frame model prefix
  plugin @plugin
  flexcomp POSE cellcount count dim dof element file flatskin group inertiabox mass material mesh name origin point
  .   radius rgba rigid scale spacing texcoord type
    edge? damping equality solimp solref stiffness
    elasticity? ELASTIC
    contact? FLEXCONTACT
    pin grid gridrange id range
    plugin @plugin
  frame @frame
  replicate @replicate
  body @body

frame name childclass scale scaling massscale POSE
  * @body

replicate count sep offset euler
  * @body

plugin plugin instance
  config key value
"""
"""Facts of MuJoCo 4.0's schema: an element in each line, its attributes, and indented under it what it may contain.

A question mark stands for at most once; a dot continues the line above; `@name` stands for the element of this name at
the left edge, and `* @name` for everything that is in it. `convexhull` and `apirate`, which change nothing here, are
known to older versions only. Inside a <frame> MuJoCo checks nothing, and here the same is checked as in a <body>.
"""

REFUSED = {
    "composite": "MuJoCo 4 has removed it; write out the bodies, or save the model compiled by an older MuJoCo",
    "flexcomp": "deformable bodies are not supported; remove it, or replace it by rigid bodies",
    "replicate": "write out the copies, or save the compiled model with mujoco.mj_saveLastXML and load that",
    "attach": "write out the attached model, or save the compiled model with mujoco.mj_saveLastXML and load that",
    "plugin": "forces of plugins are not supported; remove it",
    "skin": "remove it; a skin belongs into <deformable>",
}
"""Elements that a body may not have here, and what to do about them."""


@dataclass
class Element:
    """An element of the schema."""

    tag: str
    attributes: frozenset[str] = frozenset()
    is_unique: bool = False
    """Whether the element around it has it at most once."""
    children: dict[str, Element] = field(default_factory=dict)


def refuse_unknown(document: Document) -> None:
    """An error at the first element or attribute of a document that MJCF does not have in its place."""
    waiting = [(document.root, SCHEMA)]
    while waiting:
        node, element = waiting.pop()
        _refuse_attributes(node, element)
        seen: Counter[str] = Counter()
        inside: list[tuple[Node, Element]] = []
        for child in document.children(node):
            known = element.children.get(child.tag)
            if known is None:
                raise _unknown_element(child, node, element)
            seen[child.tag] += 1
            if known.is_unique and seen[child.tag] > 1:
                raise child.error(f"is the second <{child.tag}> of its {node.tag}; keep one")
            inside.append((child, known))
        waiting += reversed(inside)


def _refuse_attributes(node: Node, element: Element) -> None:
    for key in node.element.attrib:
        attribute = str(key)
        if attribute not in element.attributes and "}" not in attribute:  # those of other namespaces say nothing here
            if node.tag == "worldbody":
                raise node.error(
                    f"has the attribute {attribute!r}, but the world has none; put it on a <body> or <frame>"
                )
            raise node.error(
                f"has an attribute {attribute!r} that MJCF does not know{_nearest(attribute, element.attributes)}"
            )


def _unknown_element(child: Node, parent: Node, element: Element) -> Exception:
    if parent.tag == "mujoco":
        return child.error(f"is not a section of MJCF{_nearest(child.tag, element.children)}")
    if child.tag in REFUSED and "geom" in element.children:
        return child.error(f"is not supported: {REFUSED[child.tag]}")
    return child.error(
        f"is not an element that MJCF knows in <{parent.tag}>; check its spelling and its place"
        f"{_nearest(child.tag, element.children)}"
    )


def _nearest(word: str, known: Iterable[str]) -> str:
    names = sorted(known)
    close = get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {quoted(names, 40)}" if names else "; there are none"


def _expand(words: Sequence[str]) -> frozenset[str]:
    """Attributes from words, some of which name groups."""
    found: set[str] = set()
    for word in words:
        found |= _expand(GROUPS[word].split()) if word in GROUPS else {word}
    return frozenset(found)


def _parse_table() -> Element:
    """The schema from its table: the root element <mujoco>."""
    roots: dict[str, Element] = {}
    references: list[tuple[Element, str, str]] = []
    path: list[Element] = []
    for line in TABLE.splitlines():
        words = line.split()
        if not words:
            continue
        depth = (len(line) - len(line.lstrip())) // 2
        if words[0] == ".":
            path[depth].attributes |= _expand(words[1:])
            continue
        del path[depth:]
        if len(words) > 1 and words[1].startswith("@"):
            references.append((path[-1], words[0], words[1][1:]))
            continue
        names = words[0].rstrip("?").split("|")
        found = [Element(name, _expand(words[1:]), words[0].endswith("?")) for name in names]
        for element in found:
            (path[-1].children if path else roots)[element.tag] = element
        path.append(found[-1])
    for holder, tag, name in references:
        if tag != "*":
            holder.children[tag] = holder if name == holder.tag else roots[name]
    for holder, tag, name in references:
        if tag == "*":
            holder.children |= roots[name].children
    return roots["mujoco"]


SCHEMA = _parse_table()
"""The root element, <mujoco>."""
