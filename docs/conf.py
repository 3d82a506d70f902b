"""Settings of Sphinx. `make docs` builds the pages."""

import tomllib
from pathlib import Path

_project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))

project = "accipiter"
copyright = "the accipiter authors"
release = _project["project"]["version"]

extensions = ["myst_nb"]
myst_heading_anchors = 2
exclude_patterns = ["_build", "decisions"]
html_theme = "furo"
html_title = "accipiter"
# The tests run the cells and compare what they print with what the page says, so a page is built
# from its text alone: quickly, and without the library.
nb_execution_mode = "off"
