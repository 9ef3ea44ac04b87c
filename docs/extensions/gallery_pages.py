"""The gallery: a page for each script of `docs/gallery`, with the pictures that it draws."""

from pathlib import Path

HERE = Path(__file__).parents[1]

OPTIONS = {
    "examples_dirs": [str(HERE / "gallery")],
    "gallery_dirs": ["auto_gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "thumbnail_size": (320, 240),
    "image_scrapers": ("matplotlib",),
}
