"""A game without a board of its own, in a real browser: text and buttons."""

from __future__ import annotations

from contextlib import closing

import pytest
from browser import PHONE, Serving
from playwright.sync_api import expect

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-plain")


def test_kuhn_poker_is_played_by_buttons_alone_and_with_a_friend(visit, tmp_path):
    with closing(Serving(tmp_path, more=("--game", "kuhn"))) as serving:
        visitor = visit(serving, **PHONE)
        page = visitor.open().page
        visitor.choose(variant="kuhn")
        expect(page.locator("input[name=level]")).to_have_count(1)
        visitor.button("Play").tap()
        for _ in range(3):
            page.locator(".plain button, dialog.end").first.wait_for()
            if page.locator("dialog.end").count():
                break
            expect(page.locator(".plain pre")).to_contain_text("card[")
            visitor.fits()
            visitor.picture("kuhn-phone")
            before = page.locator(".moves li").count()
            visitor.button("pass").tap()
            page.locator(f".moves li:nth-child({before + 1})").wait_for()
        visitor.see("dialog.end .reason")
        assert page.locator("dialog.end").get_by_role("button").all_inner_texts() == ["See the board", "Rematch"]
        page.locator("dialog.end").get_by_role("button", name="Rematch").tap()
        # There is no setup to choose: it begins at once.
        visitor.see(".plain pre", has_text="card[")

        host, guest = visit(serving), visit(serving)
        host.open()
        host.choose(mode="friend", variant="kuhn")
        expect(host.page.locator(".setup")).to_have_count(0)
        host.button("Make the link").click()
        guest.open(host.see(".invitation input").input_value().removeprefix(guest.address))
        guest.see(".plain pre", has_text="card[")
        expect(guest.page.locator(".plain button")).to_have_count(0)
        host.button("bet").click()
        guest.button("bet").click()
        for each in (host, guest):
            each.see("dialog.end")
        host.picture("kuhn")
        # All pages are left before the server ends: else they would ask where it is.
        for each in (visitor, host, guest):
            each.page.goto("about:blank")
