"""Notebooks: the example runs, and every picture appears once."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(notebook):
    nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def pictures(cell):
    return [output for output in cell.outputs if "image/png" in output.get("data", {})]


def test_the_notebook_of_displays_runs_and_shows_each_thing_once():
    cells = run(nbformat.read(EXAMPLES / "notebook_displays.ipynb", as_version=4))
    for cell in cells:
        assert not [output for output in cell.outputs if output.output_type in ("error", "stream")], cell.source
        assert len(cell.outputs) == 1, cell.source
        drawn = ".plot" in cell.source
        assert len(pictures(cell)) == int(drawn), cell.source
        if not drawn:
            assert {"text/html", "text/latex"} & set(cell.outputs[0].data), cell.source


@pytest.mark.slow
def test_a_figure_appears_once_whether_it_is_the_last_value_or_not():
    sources = [
        "import chainrule as cr, matplotlib.pyplot as plt\nrobot = cr.load('planar_2r')",
        "robot.plot()",
        "robot.plot();",
        "figure = robot.plot()",
        "figure",
        "for q in ([0, 0], [0.5, 0.5]):\n    robot.plot(q)",
        "robot.plot()\nplt.show()",
        "robot.plot(None, '/dev/null.png') if False else len(plt.get_fignums())",
    ]
    cells = run(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]))
    assert [len(pictures(cell)) for cell in cells] == [0, 1, 1, 1, 1, 2, 1, 0]
    assert cells[-1].outputs[0].data["text/plain"] == "0"  # none stays open


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs"), cell.source
