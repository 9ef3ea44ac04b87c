"""The numbers of a study beside its page: JSON for programs, Parquet for tables."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from chainrule import __version__
from chainrule.errors import import_optional
from chainrule.study.sizing import Sizing
from chainrule.study.statistics import QUANTITIES, JointStatistics
from chainrule.study.study import Result

PERCENTILES = (1, 5, 25, 50, 75, 95, 99)


def row(cell: JointStatistics) -> dict[str, Any]:
    """The statistics of one joint in one activity, as a flat table has them. SI units."""
    out: dict[str, Any] = {
        "activity": cell.activity, "joint": cell.joint, "motions": cell.motions, "duration": cell.duration,
        "speed_at_peak_torque": cell.speed_at_peak_torque, "work": cell.work, "regenerated": cell.regenerated,
        "duty_cycle": cell.duty_cycle, "dynamic_beyond_gravity": cell.dynamic_beyond_gravity,
    }  # fmt: skip
    out |= {f"share_{name}": share for name, share in cell.shares.items()}
    out |= {f"mean_magnitude_{name}": mean for name, mean in cell.magnitudes.items()}
    for quantity in QUANTITIES:
        one = cell[quantity]
        box = one.box_plot()
        measures: dict[str, Any] = {
            "min": one.minimum, "max": one.maximum, "peak": one.peak, "mean": one.mean, "rms": one.rms,
            "whisker_low": box.low, "whisker_high": box.high,
        }  # fmt: skip
        measures |= {f"p{share}": one.quantile(share / 100) for share in PERCENTILES}
        out |= {f"{quantity}_{name}": float(value) for name, value in measures.items()}
        out[f"{quantity}_outliers"] = box.outlier_count
    return out


def facts(result: Result, sizing: Sizing | None = None) -> dict[str, Any]:
    """Everything that the page says, as numbers."""
    finding = result.finding()
    content: dict[str, Any] = {
        "chainrule": __version__,
        "units": "SI",
        "joints": list(result.joints),
        "activities": dict(result.titles),
        "method": result.study.source.describe(),
        "statistics": [row(cell) for cell in result.cells],
        "overall": [row(cell) for cell in result.overall.values()],
        "gravity_exceeds_dynamics": {
            "holds": finding.holds,
            "critical_pace": _finite(finding.critical_pace),
            "exceptions": [
                {"joint": c.joint, "activity": c.activity, "gravity": c.gravity, "dynamic": c.dynamic}
                for c in finding.exceptions
            ],
        },
    }
    if sizing is not None:
        content["drives"] = {
            joint: {
                "drive": None if choice.drive is None else choice.drive.name,
                "mass": None if choice.drive is None else choice.drive.mass,
                "limited_by": choice.limit,
                "uses": dict(choice.uses),
            }
            for joint, choice in sizing.choices.items()
        }
    return content


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def write_json(content: dict[str, Any], path: Path) -> None:
    """The facts as JSON."""
    path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", "utf-8")


def write_parquet(result: Result, path: Path) -> None:
    """The statistics as a table: a row for each joint and activity."""
    parquet = import_optional("pyarrow.parquet", "statistics as Parquet")
    pyarrow = import_optional("pyarrow", "statistics as Parquet")
    rows = [row(cell) for cell in result.cells]
    names = list(dict.fromkeys(name for one in rows for name in one))
    table = pyarrow.table({name: [one.get(name) for one in rows] for name in names})
    parquet.write_table(table, path, write_page_checksum=True)
