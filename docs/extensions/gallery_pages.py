"""The gallery: a page for each script of `docs/gallery`, with the picture that the script calls `figure`."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

HERE = Path(__file__).parents[1]
SECTIONS = ("robots", "textbook", "kinematics", "motion", "dynamics", "pages")
DOTS_PER_INCH = 90


def picture(block: Any, variables: dict[str, Any], conf: dict[str, Any], **_: Any) -> str:
    """Write what a block of code calls `figure`: a figure of Matplotlib, one of a textbook, or an animation."""
    figure = variables["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    path = Path(next(variables["image_path_iterator"]))
    if isinstance(figure, Figure):
        figure.savefig(path, dpi=DOTS_PER_INCH, facecolor="white", bbox_inches="tight")
    elif hasattr(figure, "png"):
        path.write_bytes(figure.png())
    else:
        path = path.with_suffix(".gif")
        figure.save(path)
    return str(figure_rst([str(path)], conf["src_dir"]))


OPTIONS = {
    "examples_dirs": [str(HERE / "gallery")],
    "gallery_dirs": ["auto_gallery"],
    "subsection_order": "gallery_pages.order",
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"\.py$",
    "nested_sections": False,
    "image_scrapers": ("gallery_pages.picture",),
    "capture_repr": (),
    "abort_on_example_error": True,
    "plot_gallery": True,
    "thumbnail_size": (320, 240),
    "remove_config_comments": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}


def order(folder: str) -> int:
    """The place of a section of the gallery."""
    return SECTIONS.index(Path(folder).name)
