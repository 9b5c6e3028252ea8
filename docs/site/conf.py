"""Settings of Sphinx for the documentation site; `build_site.py` beside this file writes the pages and calls Sphinx."""

import sys
from pathlib import Path

from nmtcore import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "nmtcore"
version = release = __version__
author = "the nmtcore authors"
copyright = "2026, the nmtcore authors. Apache-2.0"
language = "en"

extensions = ["myst_nb"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
nitpicky = True

myst_heading_anchors = 6
myst_enable_extensions = ["attrs_inline"]
nb_execution_mode = "off"
nb_merge_streams = True
highlight_language = "text"
smartquotes = False

html_theme = "furo"
html_title = "nmtcore"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_math_renderer = "mathml"
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0a57a5", "color-brand-content": "#0a57a5"},
    "dark_css_variables": {"color-brand-primary": "#8fbcf3", "color-brand-content": "#8fbcf3"},
}


def setup(app: object) -> None:
    """Add the equations' renderer."""
    import mathml

    app.add_html_math_renderer(
        "mathml", inline_renderers=(mathml.write_inline, None), block_renderers=(mathml.write_block, None)
    )
