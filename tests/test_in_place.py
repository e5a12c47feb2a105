"""The template's folder is a project itself: complete, and all of it in use."""

import fnmatch
from pathlib import Path

import pytest

from tests import matrix
from tests.rendering import ROOT, files_of, render, sources

SUFFIX = ".jinja"


@pytest.fixture(scope="module")
def default_files(template: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of one who answers nothing, and those that another deployment adds to them."""
    folder = tmp_path_factory.mktemp("default")
    terraform = render(template, folder / "terraform", {"deploy": "terraform"})
    return files_of(terraform) | files_of(render(template, folder / "project"))


def in_template() -> list[str]:
    """The paths of the template's files, inside its folder."""
    return [name.removeprefix("template/") for name in sources() if name.startswith("template/")]


def default_renders() -> list[str]:
    """The files that stand beside the template that they are rendered from."""
    names = set(in_template())
    return sorted(name for name in names if name + SUFFIX in names)


def test_there_are_default_renders() -> None:
    assert {"pyproject.toml", "main.py", "Procfile", "app/defaults.py", "deploy/config.sh"} <= set(
        default_renders()
    )


@pytest.mark.parametrize("path", default_renders())
def test_a_default_render_is_what_the_default_answers_give(
    default_files: dict[str, bytes], path: str
) -> None:
    assert (ROOT / "template" / path).read_bytes() == default_files[path], "run `make defaults`"


def test_every_file_of_the_template_is_in_some_variant(template: Path) -> None:
    """By the map of answers to files, which `test_variants` sees Copier follow."""
    answers_file = "{{ _copier_conf.answers_file }}.jinja"
    files = files_of(template / "template").keys() - {answers_file}
    expected = {name.removesuffix(SUFFIX) for name in files}
    every = map(matrix.with_defaults, matrix.variants())
    assert expected == set[str]().union(*map(matrix.version().files_for, every))


def test_every_path_in_the_map_exists() -> None:
    """A renamed file would otherwise slip into every variant."""
    mapped = [line for line in matrix.mapped_paths() if line.startswith("/")]
    names = [f"/{name.removesuffix(SUFFIX)}" for name in in_template()]
    unknown = [path for path in mapped if not fnmatch.filter(names, f"{path.rstrip('/')}*")]
    assert not unknown
