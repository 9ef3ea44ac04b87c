"""Formulas without another host: MathJax is one file of the site, from the wheel that `conf.py` names."""

import shutil
from pathlib import Path

FOLDER = "mathjax"


def setup(app):
    """The extension."""
    app.setup_extension("sphinx.ext.mathjax")
    app.add_config_value("mathjax_file", None, "html")
    app.connect("config-inited", _name)
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _name(app, config):
    config.mathjax_path = f"{FOLDER}/{Path(config.mathjax_file).name}"
    config.mathjax3_config = {"options": {"enableMenu": False}}  # the menu would load further files


def _copy(app, error):
    if error is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / FOLDER
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(app.config.mathjax_file, target)
