"""The same targets under atheris, which knows the lines that an input reaches: `python -m fuzz.guided TARGET`.

atheris is no dependency: `pip install atheris` where this is wanted. Words after the target go to libFuzzer, such as
-max_total_time=600. It stops at the first finding, which is kept as those of the other fuzzer are.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from random import Random

HERE = Path(__file__).parent


def main() -> None:
    """Instrument the library and run one target until it is stopped."""
    try:
        import atheris
    except ImportError:
        raise SystemExit("atheris is not installed: pip install atheris") from None
    folder = Path(tempfile.mkdtemp(prefix="chainrule-guided-"))
    (folder / "cache").mkdir(mode=0o700)
    state = str(folder / "state")
    os.environ |= {"CHAINRULE_CACHE": str(folder / "cache"), "CHAINRULE_KERNELS": "off", "XDG_STATE_HOME": state}
    with atheris.instrument_imports(include=["chainrule.formats", "chainrule.simulation", "chainrule.cli"]):
        import chainrule.formats.meshes
        import chainrule.formats.mjcf
        import chainrule.formats.native
        import chainrule.formats.urdf
        import chainrule.simulation.files  # noqa: F401
    from fuzz import findings
    from fuzz.guard import attempt
    from fuzz.targets import TARGETS

    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        raise SystemExit(f"there is no target {name!r}; there are {', '.join(TARGETS)}")
    os.chdir(folder)
    target = TARGETS[name](folder)
    seeds = folder / "seeds"
    seeds.mkdir()
    first = target.seeds()
    for k, seed in enumerate(first):
        (seeds / str(k)).write_bytes(seed)

    def one(data: bytes) -> None:
        outcome = attempt(target, data)
        if outcome.is_finding:
            path = findings.store(HERE / "findings", name, data, outcome)
            raise RuntimeError(f"{outcome.kind} {outcome.place}: {path}")

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        rng = Random(seed)
        if rng.random() < 0.3:
            return bytes(atheris.Mutate(data, max_size))
        return target.mutator(rng, data, first)[:max_size]

    words = [sys.argv[0], *sys.argv[2:], "-rss_limit_mb=4096", "-max_len=32768", str(seeds)]
    atheris.Setup(words, one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
