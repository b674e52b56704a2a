"""The site: the repository's pages as they are, the notebooks, the library's names and the rule graph.

``make site`` builds it. It starts with README.md; the contents at the side are the list of docs/README.md.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from posixpath import normpath

from docutils import nodes
from sphinx.application import Sphinx
from sphinxcontrib.mermaid import mermaid

ROOT = Path(__file__).parents[2]
GRAPHS = ROOT / "build" / "rules"

project = "pausefl"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinxcontrib.mermaid",
]

# The source folder is the root of the repository: links lead where they lead on GitHub.
root_doc = "README"
include_patterns = [
    "*.md",
    "benchmarks/investigations/*.md",
    "benchmarks/README.md",
    "config/README.md",
    "data/raw/README.md",
    "docs/*.md",
    "examples/notebooks/*.ipynb",
    "results/published/*.md",
    "docs/site/*.md",
    "src/pausefl/reproduction/authors_archive/README.md",
]
exclude_patterns = [".*", "build", "data/p*", "data/raw/[!R]*", "results/[!p]*", "src/pausefl/[cd]*", "tests"]
myst_enable_extensions = ["html_image"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 4

# Notebooks are stored without outputs, and run here, but for one that needs Flower.
nb_execution_mode = "cache"
nb_execution_excludepatterns = ["examples/notebooks/flower_*"]
nb_execution_cache_path = str(ROOT / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 600

default_role = "py:obj"  # in docstrings
add_module_names = False
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_type_aliases = {"AnySelector": "AnySelector"}
autodoc_preserve_defaults = True
autodoc_mock_imports = ["flwr", "nvflare"]  # each is an extra, and the site is built without it
napoleon_google_docstring = False

# Diagrams are drawn when the site is built: pages load no script for them.
mermaid_cmd = shlex.join([str(Path(sys.executable).parent / "mermaidx"), "--quiet"])
mermaid_output_format = "svg"

html_theme = "furo"
html_title = "pausefl"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False

#: Has Mermaid put many rules close together, and not break their names.
CLOSE = '%%{init: {"flowchart": {"nodeSpacing": 8, "rankSpacing": 24, "padding": 8, "wrappingWidth": 500}}}%%'

#: What docs/README.md does not list: pages of the site alone, and of folders.
OTHERS = {
    "Reference": ["/docs/site/api", "/docs/site/rules", "/CHANGELOG"],
    "Folders": [
        "/results/published/README",
        "/results/published/authors",
        "/results/published/benchmark",
        "/results/published/verdicts",
        "/src/pausefl/reproduction/authors_archive/README",
        "/benchmarks/investigations/README",
        "/benchmarks/investigations/authors_logs",
        "/benchmarks/investigations/update_budget",
        "/benchmarks/README",
    ],
}


def contents() -> str:
    """The contents at the side, as directives that show nothing on the page."""
    listed = (ROOT / "docs" / "README.md").read_text("utf-8")
    parts = {"Start": ["README <self>", "/docs/README"]}
    for caption, pages in re.findall(r"^\*\*(.+)\*\*\n\n((?:- .+\n)+)", listed, re.MULTILINE):
        entries = re.findall(r"^- \[(.+?)\]\((.+?)\.(?:md|ipynb)\)", pages, re.MULTILINE)
        parts[caption] = [f"{title} <{normpath(f'/docs/{page}')}>" for title, page in entries]
    return "\n\n".join(
        "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"])
        for caption, pages in (parts | OTHERS).items()
    )


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the contents below the README."""
    if page == root_doc:
        source[0] += f"\n\n{contents()}\n"


def draw_rules(app: Sphinx) -> None:
    """Ask Snakemake for the graphs of docs/site/rules.md; without colours, and without the target."""
    GRAPHS.mkdir(parents=True, exist_ok=True)
    for configuration, target in (("demo", "demo"), ("config", "all"), ("published", "all")):
        options = ["--rulegraph", "mermaid-js", "--configfile", f"config/{configuration}.yaml", "--", target]
        command = [sys.executable, "-m", "snakemake", *options]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}:\n{done.stderr}")
        labels = dict(re.findall(r"^\t(id\d+)\[(\w+)\]$", done.stdout, re.MULTILINE))
        edges = re.findall(r"^\t(id\d+) --> (id\d+)$", done.stdout, re.MULTILINE)
        lines = [f"{labels[one]} --> {labels[other]}" for one, other in edges if labels[other] != target]
        lines += [
            f'{one}["{one.replace("_without_", "<br>without_")}"]' for one in labels.values() if one != target
        ]
        (GRAPHS / f"{configuration}.mmd").write_text(
            "\n".join([CLOSE, "flowchart LR", *sorted(lines)]), "utf-8"
        )


def wrap_diagrams(app: Sphinx, document: nodes.document, page: str) -> None:
    """Give each diagram an element around it, which can scroll."""
    for diagram in list(document.findall(mermaid)):
        diagram.replace_self(nodes.container("", diagram.deepcopy(), classes=["diagram"]))


def find_source(app: Sphinx, module: str) -> tuple[str, dict[str, tuple[str, int, int]]]:
    """Source and lines of classes, functions and methods; Sphinx's own parser gives up on some modules."""
    code = Path(importlib.util.find_spec(module).origin).read_text("utf-8")
    places = {}
    for part in ast.parse(code).body:
        methods = part.body if isinstance(part, ast.ClassDef) else []
        for inner, prefix in ((part, ""), *((method, f"{part.name}.") for method in methods)):
            if isinstance(inner, ast.ClassDef | ast.FunctionDef):
                kind = "class" if isinstance(inner, ast.ClassDef) else "def"
                places[prefix + inner.name] = (kind, inner.lineno, inner.end_lineno)
    return code, places


def add_start(app: Sphinx, error: Exception | None) -> None:
    """Let a server that is asked for the folder answer with the README."""
    if error is None:
        shutil.copy2(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> None:
    """Register the functions above."""
    app.connect("builder-inited", draw_rules)
    app.connect("source-read", add_contents)
    app.connect("viewcode-find-source", find_source)
    app.connect("doctree-resolved", wrap_diagrams)
    app.connect("build-finished", add_start)
