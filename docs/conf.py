"""The site: `make docs` builds it in build/docs. Pages are Markdown; nothing on them comes from another host."""

import sys
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

import gallery_pages  # noqa: E402

import chainrule  # noqa: E402

project, author, copyright = "chainrule", "chainrule developers", "chainrule developers"
version = release = chainrule.__version__

extensions = [
    "myst_nb", "sphinx_design", "sphinx_copybutton", "sphinx_gallery.gen_gallery",
    "doctest_blocks", "generated_pages", "offline", "reference_links", "robots",
]  # fmt: skip
exclude_patterns = ["**.ipynb", "gallery", "extensions"]
suppress_warnings = ["config.cache"]  # the gallery's options hold functions
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # signatures name types of many packages; links between pages are all checked

# --- Markdown ---

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "amsmath", "attrs_inline", "substitution"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True  # what cells write stays out of the sources
nb_execution_timeout = 120
nb_ipywidgets_js = {}  # would come from another host

# --- pages ---

html_theme = "pydata_sphinx_theme"
html_title = "chainrule"
html_favicon = html_logo = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files, html_js_files = ["site.css"], ["site.js"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "chainrule"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_prev_next": True,
    "use_edit_page_button": False,
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start": [], "features": []}
mathjax_file = next(
    path for path in distribution("sphinx-mathjax-offline").files or () if path.name == "tex-svg-full.js"
).locate()
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# --- pictures with their code ---

sphinx_gallery_conf = gallery_pages.OPTIONS
