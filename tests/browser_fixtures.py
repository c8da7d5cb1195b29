"""Fixtures of tests in a real browser; a test module takes them by `pytest_plugins = ["browser_fixtures"]`.

Browsers and servers last for one module: a browser that is driven step by step keeps an event loop running, which the
tests of other modules need for themselves.
"""

from __future__ import annotations

import importlib.resources
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Serving, Visitor, chromium_path
from playwright.sync_api import Browser, sync_playwright

from vauban.web.files import PAGE


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install chromium (make browser does it where it may)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def serving(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    found = Serving(tmp_path_factory.mktemp("serving"))
    yield found
    found.close()
    assert found.complaints() == ""


@pytest.fixture
def visit(chromium: Browser, serving: Serving, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visitor]]:
    """Return `visit(**look)`, which makes a visitor; check everybody's page afterwards."""
    visitors: list[Visitor] = []

    def come(to: Serving = serving, **look: Any) -> Visitor:
        visitors.append(Visitor(chromium, to.address, **look))
        return visitors[-1]

    yield come
    for number, visitor in enumerate(visitors):
        # A picture of the screen is often the whole explanation of a failed test.
        if getattr(request.node, "failed", False):
            visitor.picture(f"failed-{request.node.name}-{number}")
        visitor.context.close()
    for visitor in visitors:
        visitor.check()


@pytest.fixture
def page_copy(tmp_path: Path) -> Path:
    """Return the folder of a copy of the page's files, to be changed."""
    return Path(shutil.copytree(PAGE, tmp_path / "page"))


@pytest.fixture(scope="module")
def axe() -> str:
    """Return the script of axe-core, which finds barriers."""
    return importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    report = yield
    if report.when == "call" and report.failed:
        item.failed = True  # type: ignore[attr-defined]
    return report
