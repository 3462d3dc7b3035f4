"""The reference of the library: all that is public stands in it, as the code has it, without help from the network."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from sphinx.testing.util import SphinxTestApp

import sense7
from sense7.book.extensions import api

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").glob("api*.md"))
INSIDE = {"arguments", "cli", "start", "terminal"}
"""What checks arguments is called by the library itself; the command line says what it can do (--help)."""

ROLE = re.compile(r":(?:py:)?(?P<kind>func|class|meth|mod|data|attr|exc|obj):`(?P<name>[^`<]+)`")


def named_on(page):
    return re.findall(r"^\.\. automodule:: (\S+)$", api.expand(page.read_text("utf-8")), re.MULTILINE)


def all_modules():
    return [importlib.import_module(entry.name) for entry in pkgutil.walk_packages(sense7.__path__, "sense7.")]


def public_things(name):
    """Functions and classes that a module offers."""
    module = importlib.import_module(name)
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    names = getattr(module, "__all__", own)
    things = {name: getattr(module, name) for name in names}
    return [name for name, thing in things.items() if inspect.isclass(thing) or inspect.isfunction(thing)]


# What stands on the pages


def test_every_part_of_the_library_stands_on_one_page():
    named = [name for page in PAGES for name in named_on(page)]
    assert sorted(named) == sorted(set(named))
    parts = {entry.name for entry in pkgutil.iter_modules(sense7.__path__)} - INSIDE
    assert {name.split(".")[1] for name in named} == parts


@pytest.mark.parametrize("package", api.OPEN)
def test_every_module_of_an_open_package_has_a_section(package):
    library = ROOT / "src" / "sense7"
    paths = [path.relative_to(library).with_suffix("") for path in (library / package).rglob("*.py")]
    own = {".".join(path.parts).removesuffix(".__init__") for path in paths} - {package}
    assert own == set(api.modules_of(package))
    assert {f"sense7.{name}" for name in own} == set(named_on(ROOT / "book" / f"api-{package}.md"))


def test_the_front_door_is_listed_whole():
    table = api.expand("```{front-door}\n```")
    assert sorted(re.findall(r"`s7\.(\w+) <", table)) == sorted(sense7.__all__)
    assert ":py:obj:`s7.load <sense7.loading.load>`" in table
    assert ":py:obj:`s7.agreement <sense7.findings.agreement>`" in table
    assert "     - \n" not in f"{table}\n", "each has something said of it"


def test_other_text_and_other_fences_stay_as_they_are():
    page = "# Title\n\n```python\nx = 1\n```\n\n{value}`a`\n\n```{note}\nmodules\n```\n"
    assert api.expand(page) == page


def test_a_module_that_is_not_there_is_an_error():
    with pytest.raises(ImportError):
        api.expand("```{modules} nowhere\n```")


def test_the_same_library_gives_the_same_pages():
    for page in PAGES:
        assert api.expand(page.read_text("utf-8")) == api.expand(page.read_text("utf-8"))


# What docstrings refer to


def resolves(name, module):
    """Whether a name in a docstring leads to something: from its module, a class of it, the package, or the top."""
    parts = name.removeprefix("~").removesuffix("()").split(".")
    package = sys.modules[module.__package__ or module.__name__]
    classes = [thing for thing in vars(module).values() if inspect.isclass(thing)]
    lengths = [length for length in range(len(parts), 0, -1) if ".".join(parts[:length]) in sys.modules]
    tops = [(sys.modules[".".join(parts[:length])], parts[length:]) for length in lengths[:1]]
    near = [(thing, parts) for thing in (module, package, *classes)]
    return any(leads(thing, rest) for thing, rest in [*near, *tops])


def leads(thing, parts):
    for part in parts:
        if part in getattr(thing, "__dataclass_fields__", {}):
            return True
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True


def test_every_name_that_a_docstring_refers_to_exists():
    lost = [
        (module.__name__, match["name"])
        for module in all_modules()
        for match in ROLE.finditer(inspect.getsource(module))
        if "{" not in match["name"] and not resolves(match["name"], module)
    ]
    assert lost == []


def test_the_check_finds_a_name_that_is_gone():
    module = importlib.import_module("sense7.loading")
    assert resolves("load", module)
    assert resolves("sense7.estimators.kappa.weighted_kappa", module)
    assert not resolves("sense7.findings.agreement.gone", module)
    assert not resolves("gone", module)


# How they are made


def test_making_them_needs_nothing_that_asks_a_model():
    code = (
        "import sys, pathlib; from sense7.book.extensions import api; import importlib, re\n"
        "for page in sys.argv[1:]:\n"
        "    text = api.expand(pathlib.Path(page).read_text('utf-8'))\n"
        "    for name in re.findall(r'automodule:: (\\S+)', text): importlib.import_module(name)\n"
        "print(sorted({'inspect_ai', 'aiohttp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, *map(str, PAGES)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    """A book of one page of the reference, made as the build makes it: nitpicking. Its page and its warnings."""
    source = tmp_path_factory.mktemp("book") / "source"
    source.mkdir()
    settings = "extensions = ['myst_parser', 'sense7.book.extensions.api']\nnitpicky = True\n"
    (source / "conf.py").write_text(settings, "utf-8")
    (source / "index.md").write_text(
        "# Title\n\n```{modules} estimators.kappa judge.asking.prompt judge.asking.cost\n```\n", "utf-8"
    )
    app = SphinxTestApp("html", srcdir=source)
    try:
        app.build()
        return (Path(app.outdir) / "index.html").read_text("utf-8"), app.warning.getvalue()
    finally:
        app.cleanup()


def test_docstrings_become_a_page_without_a_warning(small_book):
    assert small_book[1] == ""


def test_formulas_need_no_network(small_book):
    page = BeautifulSoup(small_book[0], "html.parser")
    formulas = page.select("dl.py math")
    assert len(formulas) >= 2
    assert page.select(".sense7-formula math[display=block]")
    assert [tag["src"] for tag in page.select("script[src]") if "//" in tag["src"]] == []


def test_signatures_parameters_and_examples_are_shown(small_book):
    page = BeautifulSoup(small_book[0], "html.parser")
    (kappa,) = page.select("dl.py.function:has(> dt#sense7\\.estimators\\.kappa\\.weighted_kappa)")
    text = " ".join(kappa.get_text(" ").split())
    for words in ("Cohen", "Parameters", "Counts by level", "Returns", "Psychological Bulletin", ">>>"):
        assert words in text
    assert '{"linear", "quadratic"}' in text, "quotation marks of code are left alone"
    assert " \N{EN DASH} " in text, "dashes are not"
    assert " -- " not in text


def test_attributes_that_share_an_entry_are_all_named(small_book):
    page = BeautifulSoup(small_book[0], "html.parser")
    (estimate,) = page.select("dl.py.class:has(> dt#sense7\\.judge\\.asking\\.cost\\.CostEstimate)")
    assert "conversations, runs (int) \N{EN DASH} Of the session." in estimate.get_text()


def test_the_built_book_has_an_anchor_for_every_public_function_and_class(synthetic):
    for page in PAGES:
        anchors = synthetic.anchors(f"book/{page.stem}")
        modules = [name for name in named_on(page) if not api._is_package_of_modules(name.removeprefix("sense7."))]
        wanted = {f"{module}.{name}" for module in modules for name in public_things(module)}
        assert wanted - anchors == set(), page.stem
        assert len(wanted) > 20


def test_the_built_reference_loads_nothing_from_elsewhere(synthetic):
    for page in PAGES:
        tags = synthetic.page(f"book/{page.stem}").select("script[src], link[rel=stylesheet]")
        assert [tag for tag in tags if "//" in (tag.get("src") or tag["href"])] == []
