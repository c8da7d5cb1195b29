"""Looks and sounds of the page in a real browser, and the pictures of the README."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser import CUT, PHONE, Player, Visitor, cross, friends, hotseat, violations
from playwright.sync_api import Locator, Page, expect

from vauban.board import Board
from vauban.notation.records import write_game

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-looks")

BARRAGE = "F.......SO/B......G.O/....N..M../.........."


# ── Looks ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_the_systems_until_somebody_chooses(visit, scheme):
    visitor = visit(color_scheme=scheme)
    page = visitor.open().page
    root, other = page.locator("html"), "dark" if scheme == "light" else "light"
    expect(root).to_have_attribute("data-theme", scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    first = page.evaluate(ground)
    visitor.button(f"Switch to {other}").click()
    expect(root).to_have_attribute("data-theme", other)
    assert page.evaluate(ground) != first
    page.reload()
    expect(root).to_have_attribute("data-theme", other)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_glides_for_who_wants_no_motion(visit, motion):
    visitor = visit(reduced_motion=motion)
    visitor.open()
    visitor.see(".setup .piece")
    glide = visitor.page.evaluate("getComputedStyle(document.querySelector('.piece')).transitionDuration")
    assert (glide == "0s") == (motion == "reduce"), glide


SHOWN = """async () => {
    const {Board} = await import("/static/js/board.js");
    const board = new Board({columns: 5, rows: 2, lakes: ["e1"]}, {label: "x"});
    document.getElementById("main").replaceChildren(board.element);
    const [plain, dark] = ["a1", "b1"].map((at) => board.cells.get(at));
    board.setPieces([
        {id: 1, at: "c1", side: "red", type: null, marks: {moved: true}},
        {id: 2, at: "d1", side: "blue", type: null, marks: {moved: true}},
        {id: 3, at: "c2", side: "red", type: "spy", marks: {known: true}},
        {id: 4, at: "d2", side: "blue", type: "spy", marks: {known: true}},
    ]);
    const style = (each, part) => getComputedStyle(each, part);
    const colours = (cell) => {
        const own = style(cell), after = style(cell, "::after");
        const drawn = after.content === "none" ? [] : [after.borderTopColor, after.backgroundColor];
        return [own.backgroundColor, own.boxShadow, ...drawn].map(String);
    };
    const usual = colours(plain);
    const marks = {};
    for (const kind of ["selected", "target", "strike", "barred", "last", "pending", "fought"]) {
        board.setMarks({[kind]: ["a1"]});
        marks[kind] = colours(plain).filter((each) => !usual.includes(each));
    }
    board.setMarks({});
    const outline = (frame) => document.querySelector(`${frame.getAttribute("href")} path`).getAttribute("d");
    const pieces = [...board.element.querySelectorAll(".piece")].map((piece) => {
        const frame = piece.querySelector(".frame"), mark = piece.querySelector(".mark");
        return {
            side: piece.classList.contains("red") ? "red" : "blue",
            outline: outline(frame),
            fill: style(frame).color,
            stroke: style(frame).stroke,
            figure: style(piece.querySelector(".figure")).color,
            mark: [style(mark).backgroundColor, style(mark).borderTopColor],
        };
    });
    const grounds = {plain: usual[0], dark: colours(dark)[0], last: marks.last[0], selected: marks.selected[0]};
    const {token} = await import("/static/js/games/geister/ghosts.js");
    const haunted = new Board({columns: 2, rows: 1, gates: {a2: "red", b2: "blue"}}, {label: "y"});
    document.getElementById("main").append(haunted.element);
    const ghosts = ["red", "blue"].flatMap((side) => ["good", "evil", null].map((type) => {
        const drawn = token(side, type);
        haunted.element.append(drawn);
        const body = style(drawn.querySelector(".ghost-body")), mark = drawn.querySelector(".ghost-mark");
        return {side, fill: body.fill, stroke: body.stroke, mark: style(mark).fill};
    }));
    const gates = [...haunted.element.querySelectorAll(".gate")]
        .map((gate) => [style(gate).color, style(gate).backgroundColor]);
    const edge = [style(board.element.querySelector(".files")).color, style(board.element).backgroundColor];
    const waves = style(board.element.querySelector(".waves"));
    const lake = {waves: waves.color, opacity: waves.opacity, ground: colours(board.cells.get("e1"))[0]};
    return {marks, pieces, grounds, lake, ghosts, gates, edge};
}"""
"""A board with every mark in turn: its colours where they differ from a plain square's, those of pieces, and below."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_and_sides_are_told_apart_by_who_sees_no_colours(visit, scheme):
    visitor = visit(color_scheme=scheme, reduced_motion="reduce")
    page = visitor.open().page
    boards = page.evaluate("import('/static/js/settings.js').then(({BOARDS}) => BOARDS)")
    seen = set()
    for board in boards:
        page.evaluate("board => import('/static/js/settings.js').then(({change}) => change('board', board))", board)
        shown = page.evaluate(SHOWN)
        _told_apart(shown, f"{board}, {scheme}")
        seen.add(shown["grounds"]["plain"])
    assert len(seen) == len(boards) >= 5, "every board has a colour of its own"


def _told_apart(shown: dict[str, Any], look: str) -> None:
    """Check the contrast of everything on a board (`SHOWN`)."""
    grounds = shown["grounds"]
    for kind, colours in shown["marks"].items():
        for ground in ("plain", "dark"):
            assert max(contrast(each, grounds[ground]) for each in colours) >= 3, f"{look}: {kind} on {ground}"
    lake = shown["lake"]
    assert lake["opacity"] == "1" and contrast(lake["waves"], lake["ground"]) >= 3, look
    outlines = {side: {each["outline"] for each in shown["pieces"] if each["side"] == side} for side in ("red", "blue")}
    assert outlines["red"].isdisjoint(outlines["blue"]), "the sides have one shape, hidden or known"
    for piece in shown["pieces"]:
        assert contrast(piece["figure"], piece["fill"]) >= 3, look
        assert contrast(*piece["mark"]) >= 3, look
    for piece in (*shown["pieces"], *shown["ghosts"]):
        for name, ground in grounds.items():
            # A line around the piece parts it from what it stands on, if it can be told from both.
            line = min(contrast(piece["stroke"], each) for each in (piece["fill"], ground))
            assert max(contrast(piece["fill"], ground), line) >= 3, f"{look}: {piece} on {name}"
    for ghost in shown["ghosts"]:
        assert contrast(ghost["mark"], ghost["fill"]) >= 3, f"{look}: {ghost}"
    for gate in shown["gates"]:
        assert contrast(*gate) >= 3, f"{look}: a gate"
    assert contrast(*shown["edge"]) >= 4.5, f"{look}: the coordinates"


def test_a_board_is_chosen_by_its_picture_and_kept(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.see(".setup .piece")
    ground = "getComputedStyle(document.querySelector('.setup .cell')).backgroundColor"
    usual = page.evaluate(ground)
    visitor.button("Settings").click()
    swatches = page.locator("dialog .swatch")
    looks = swatches.evaluate_all("all => all.map(each => getComputedStyle(each).backgroundImage)")
    assert len(set(looks)) == len(looks) == 5
    page.locator("input[name=board][value=wood]").check(force=True)
    visitor.picture("boards")
    chosen = page.evaluate(ground)
    assert chosen != usual
    # Another page of the same browser has it, too; and the night has one of its own.
    visitor.open("#/geister/setups")
    visitor.see(".setup .ghost")
    assert page.evaluate(ground) == chosen
    visitor.button("Switch to dark").click()
    assert page.evaluate(ground) not in (usual, chosen)


BARE = """async () => {
    const {Board} = await import("/static/js/board.js");
    window.board = new Board({columns: 3, rows: 3, lakes: ["c1"]}, {label: "x"});
    document.getElementById("main").replaceChildren(board.element);
}"""
"""A board without pieces, to be marked by the test."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_are_told_apart_where_the_system_gives_the_colours(visit, scheme):
    visitor = visit(forced_colors="active", color_scheme=scheme, viewport={"width": 300, "height": 600})
    page = visitor.open().page
    page.evaluate(BARE)
    middle = page.locator(".cell[data-at=b2]")
    looks = {"plain": middle.screenshot(), "lake": page.locator(".cell[data-at=c1]").screenshot()}
    for kind in ("selected", "target", "strike", "barred", "last", "pending", "fought"):
        page.evaluate("kind => board.setMarks({[kind]: ['b2']})", kind)
        looks[kind] = middle.screenshot()
    for kind in ("selected", "last"):
        page.evaluate("kind => board.setMarks({[kind]: ['b2']})", kind)
        middle.focus()
        page.keyboard.press("Shift")  # the focus of who uses the keyboard
        looks[f"{kind} with the focus"] = middle.screenshot()
    page.evaluate("board.setMarks({})")
    looks["focus"] = middle.screenshot()
    page.evaluate("document.activeElement.blur()")
    for share in (0.1, 0.9):
        page.evaluate("share => { board.setHeat({b2: share}); board.heat.replaceChildren(); }", share)
        looks[f"hot by {share}"] = middle.screenshot()
    same = {(one, other) for one in looks for other in looks if one < other and looks[one] == looks[other]}
    assert same == set()
    edge = "getComputedStyle(document.querySelector('.cell')).borderTop"
    width, style, colour = page.evaluate(edge).split(" ", 2)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert width >= "1px" and style == "solid" and contrast(colour, ground) >= 3, "squares have no edges"


def contrast(one: str, other: str) -> float:
    """Of two colours as CSS computes them, by WCAG 2; a transparent one has none."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    if any(not each.startswith("rgb(") for each in (one, other)):
        return 1.0
    darker, brighter = sorted(map(luminance, (one, other)))
    return (brighter + 0.05) / (darker + 0.05)


SCREENS = {
    "": ".setup .piece",
    "setups": ".setup .piece",
    "geister/setups": ".explorer .examples .piece",
    "puzzles/flag": ".puzzle .piece",
    "puzzles": ".puzzle .piece",
    "import": "textarea",
    "analysis": ".position .piece",
    "learn": ".piece",
    "rules": ".diagram",
}
"""The screens that need no game, by their fragment, and something on each."""


def _go(visitor: Visitor, screen: str) -> None:
    visitor.page.goto(f"{visitor.address}#/{screen}")
    name = next((each for each in ("setups", "puzzles") if each in screen), screen or "home")
    visitor.see(f"body[data-screen={name}] {SCREENS[screen]}")


SIZES = {"phone": (360, 740), "tablet": (820, 1180), "phone on its side": (740, 360), "large text": (640, 400)}


@pytest.mark.parametrize("size", SIZES)
def test_every_screen_fits(visit, size):
    width, height = SIZES[size]
    visitor = visit(viewport={"width": width, "height": height})
    visitor.open()
    for screen in SCREENS:
        _go(visitor, screen)
        visitor.fits()
    visitor.start()
    visitor.fits()
    visitor.picture(f"game-{size.replace(' ', '-')}")
    assert _side(visitor.page.locator(".table .cell").first) >= 24, "squares are too small for a finger"
    visitor.resign()
    visitor.page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".review .board")
    visitor.fits()
    assert _side(visitor.page.locator(".review .cell").first) >= 20


def test_a_setup_with_the_longest_name_makes_no_screen_wider(visit):
    visitor = visit(viewport={"width": 360, "height": 740})
    page = visitor.open("#/setups").page
    visitor.see(".setup .piece")
    if not visitor.button("Save").is_visible():
        page.get_by_text("Saved setups, text").click()
    visitor.button("Save").click()
    page.locator("dialog input").fill("Flag in the corner, two bombs, left half")
    page.keyboard.press("Enter")
    expect(page.locator(".setup select")).to_contain_text("two bombs, left half")
    visitor.fits()
    _go(visitor, "")
    page.get_by_text("Saved setups, text").click()
    expect(page.locator(".setup select")).to_contain_text("two bombs, left half")
    visitor.fits()


OUTSIDE = """() => [...document.querySelectorAll("main *, dialog *, .toast *")]
    .filter(each => each.checkVisibility() && !each.closest(".unseen, .moves, table, svg"))
    .filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.textContent.slice(0, 60))"""
"""Return what stands beyond the right edge of the screen, whether one can scroll there or not."""
ASKING = """import("/static/js/dom.js").then(({toast}) => void toast("Confirm each move before it is played?",
    {seconds: 60, actions: [["Yes, confirm", () => {}]]}))"""
"""A message that asks something."""


def test_text_of_twice_the_size_fits_on_a_phone(visit):
    visitor = visit(viewport={"width": 360, "height": 740}, reduced_motion="reduce")
    page = visitor.page
    page.add_init_script("addEventListener('DOMContentLoaded', () => document.documentElement.style.fontSize = '200%')")
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        visitor.picture(f"twice-{name}")
        visitor.fits()
        found[name] = page.evaluate(OUTSIDE)

    visitor.open()
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
    for screen in SCREENS:
        _go(visitor, screen)
        look(screen.replace("/", "-") or "home")
    player = visitor.start()
    page.evaluate(ASKING)
    visitor.see(".toast .small")
    look("toast")
    visitor.button("Help and keys").click()
    look("help")
    page.keyboard.press("Escape")
    page.locator(".toast .close").click()
    player.turns(2)
    look("game")
    if not player.over():
        visitor.resign()
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".graph path.value.red")
    page.locator(".review .cell[aria-label*=flag]").first.click()
    visitor.see(".bars li")
    look("review")
    while page.evaluate("(({value, max}) => value < max)(document.querySelector('.transport input'))"):
        page.keyboard.press("ArrowRight")
        visitor.fits()
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_the_help_leaves_most_of_a_phone_to_what_the_keys_do(visit):
    visitor = visit(**PHONE)
    visitor.open()
    visitor.button("Help and keys").tap()
    visitor.see(".keys dd")
    visitor.picture("help-phone")
    keys, does = (visitor.page.locator(f".keys {each}").first.bounding_box() for each in ("dt", "dd"))
    assert keys is not None and does is not None
    assert does["width"] > 2 * keys["width"]
    assert visitor.page.evaluate(OUTSIDE) == []


HEADED = (481, 540, 600, 640, 655, 700)
"""Widths between those of a phone and those that have room for everything."""


def test_the_header_has_no_row_of_icons_alone(visit):
    visitor = visit(viewport={"width": 640, "height": 400})
    page = visitor.open().page
    rows = {}
    for width in HEADED:
        page.set_viewport_size({"width": width, "height": 400})
        boxes = [page.locator(f"header {each}").bounding_box() for each in (".brand", ".tools")]
        tops = [each["y"] + each["height"] / 2 for each in boxes if each is not None]
        rows[width] = abs(tops[0] - tops[1]) < 8
    assert rows == dict.fromkeys(HEADED, True)
    # In a game on such a screen the whole board is on it, from its first row to its last.
    page.set_viewport_size({"width": 640, "height": 400})
    visitor.start()
    page.evaluate("scrollTo(0, 0)")
    visitor.picture("header-large-text")
    board = visitor.see(".table .board").bounding_box()
    assert board is not None and board["y"] + board["height"] <= 400
    visitor.fits()


def _side(thing: Locator) -> float:
    box = thing.bounding_box()
    assert box is not None
    return min(box["width"], box["height"])


BESIDE = """() => {
    const board = document.querySelector(".review .board"), box = board.getBoundingClientRect();
    const shown = [];
    for (let y = Math.max(1, box.top + 2); y < Math.min(innerHeight, box.bottom) - 1; y += 9) {
        // As far as the board has company that it would have to scroll past: what is in another column stays there.
        for (const x of [box.left - 4, box.left / 2, box.right + 4, (box.right + innerWidth) / 2]) {
            const found = document.elementFromPoint(x, y);
            const own = found?.closest(".review > *, .review-board > *, .review-side > *");
            if (!own || own.contains(board)) continue;
            const {left, right} = own.getBoundingClientRect();
            if (left < box.right && right > box.left) shown.push(own.textContent);
        }
    }
    return shown;
}"""
"""Return what is to be seen beside the board, of things that go on behind it."""
BEHIND = """() => {
    const held = document.activeElement;
    const own = held.matches(".option input") ? held.closest(".option") : held;
    if (own === document.body || own.closest(".board, header, footer, .skip")) return null;
    const box = own.getBoundingClientRect(), board = document.querySelector(".review .board").getBoundingClientRect();
    const across = Math.min(box.right, board.right) - Math.max(box.left, board.left);
    const down = Math.min(box.bottom, board.bottom) - Math.max(box.top, board.top);
    // A list that is higher than what is left of the screen cannot but be covered in part.
    const most = own.matches(".moves") ? box.height - 20 : 1;
    return across > 1 && down > most ? own.ariaLabel || own.textContent : null;
}"""
"""Return what has the focus, where the board covers it."""
REVIEWED = SIZES | {"small tablet": (768, 1024), "wide phone": (480, 740), "small window": (500, 380)}


def test_looking_back_the_board_covers_nothing_that_has_the_focus(visit):
    visitor = visit(reduced_motion="reduce")
    player = visitor.start()
    player.turns(2)
    if not player.over():
        visitor.resign()
    page = visitor.page
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".graph path.value.red")
    visitor.button("One move on").click()
    visitor.see(".chip")
    for size, (width, height) in WIDE.items():
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        visitor.picture(f"looking-back-{size.replace(' ', '-')}")
        hidden = [part for part in (".board", ".graph", ".moves") if not _on_screen(page, f".review {part}")]
        assert hidden == [], f"not on a {size}"
    found: dict[str, set[str]] = {}
    for size, (width, height) in REVIEWED.items():
        page.set_viewport_size({"width": width, "height": height})
        visitor.fits()
        bad = found.setdefault(size, set())
        # Nothing shows on either side of the board of what goes on behind it.
        for down in range(0, page.evaluate("document.documentElement.scrollHeight - innerHeight"), height // 3):
            page.evaluate("down => scrollTo(0, down)", down)
            bad |= {f"beside: {each}" for each in page.evaluate(BESIDE)}
            if down // (height // 3) == 2:
                visitor.picture(f"looking-back-{size.replace(' ', '-')}")
        # By keyboard, down to the foot and up again to the board.
        page.locator(".transport button").first.focus()
        for key in ("Tab", "Shift+Tab"):
            for _ in range(60):
                page.keyboard.press(key)
                bad |= {f"behind, by {key}: {each}" for each in [page.evaluate(BEHIND)] if each is not None}
                if page.evaluate("document.activeElement.matches('body, .cell')"):
                    break
            else:
                pytest.fail("the way by keyboard has no end")
    assert {size: bad for size, bad in found.items() if bad} == {}
    # Where the board stays in sight, the way back to it does not take one away from what one reads.
    page.set_viewport_size({"width": 360, "height": 740})
    page.evaluate("document.activeElement.blur(), scrollTo(0, 500)")
    page.locator(".review .cell[tabindex='0']").focus()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("scrollY") == 500


WIDE = {
    "laptop": (1280, 800), "full screen": (1920, 1080), "large screen": (2560, 1440), "small laptop": (1024, 768),
    "low window": (1100, 620), "tablet": (820, 1180), "small tablet": (768, 1024), "tablet on its side": (1180, 820),
}  # fmt: skip
"""Screens on which there is room for the board, the moves and the graph at once."""
CURRENT = """() => {
    const list = document.querySelector(".review .moves"), box = list.getBoundingClientRect();
    const now = list.querySelector("[aria-current]").getBoundingClientRect();
    return now.top >= box.top - 1 && now.bottom <= box.bottom + 1 && list.scrollHeight > list.clientHeight + 100;
}"""
"""Return whether the list of moves scrolls by itself, and shows the current one."""


def _on_screen(page: Page, selector: str) -> bool:
    box, size = page.locator(selector).first.bounding_box(), page.viewport_size
    assert box is not None and size is not None
    inside = box["x"] >= 0 and box["y"] >= 0
    return inside and box["x"] + box["width"] <= size["width"] and box["y"] + box["height"] <= size["height"]


def test_looking_back_on_a_long_game_the_moves_scroll_beside_the_board(visit):
    board = Board.from_setups("FBO..NS./BGO.M..N/........", "FBO..NS./BGO.M..N/........", "duel")
    for number in range(99):
        for moves in (("g1h1", "f1e1", "h1g1", "e1f1"), ("b8a8", "c8d8", "a8b8", "d8c8")):
            board.push(moves[number % 4])
    visitor = visit(reduced_motion="reduce")
    page = visitor.open("#/import").page
    page.get_by_label("Or paste it here").fill(write_game(board))
    visitor.button("Open").click()
    visitor.see(".graph-place", has_text="There is no network for this variant")
    hidden = []
    for name, (width, height) in (WIDE | REVIEWED).items():
        page.set_viewport_size({"width": width, "height": height})
        for ply in (99, 198, 1):
            page.locator(".transport input").fill(str(ply))
            page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            if not page.evaluate(CURRENT):
                hidden.append(f"{name}: move {ply} in its list")
        page.evaluate("scrollTo(0, 0)")
        visitor.fits()
        if name in WIDE:
            parts = (".board", ".moves", ".graph-place", ".transport")
            hidden += [f"{name}: {part}" for part in parts if not _on_screen(page, f".review {part}")]
    assert hidden == []


# ── For the ear ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("missing", ["**/api/**", "**/js/home.js", "**/*.svg"])
def test_the_page_shows_something_before_the_server_has_told_anything(visit, missing):
    """Nor does it wait for what one screen alone needs: the first paint takes one round of requests, and no more."""
    visitor = visit()
    visitor.page.route(missing, lambda _: None)  # and no answer ever comes
    visitor.page.goto(visitor.address, wait_until="commit")
    visitor.see("#header .brand", has_text="Vauban")
    visitor.page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length > 0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_has_a_serious_barrier(visit, axe, scheme):
    visitor = visit(color_scheme=scheme, reduced_motion="reduce")
    page = visitor.open().page
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        visitor.picture(f"axe-{name}-{scheme}")
        problems = violations(page, axe)
        if problems:
            found[name] = problems

    for screen in SCREENS:
        _go(visitor, screen)
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        look(screen.replace("/", "-") or "home")
    player = hotseat(visitor)
    look("handover")
    for side, source, target in (("Red", "a4", "a7"), ("Blue", "j7", "j4")):
        cross(visitor, side)
        player.press(source)
        player.press(target)
        visitor.see(".battle")
        look(f"fight-{side.lower()}")
        if side == "Red":
            visitor.button("Hand over to Blue").click()
    player = visitor.start(clock="strategus")
    player.find()
    look("picked")
    for name in ("Settings", "Help and keys"):
        visitor.button(name).click()
        look(name.split()[0].lower())
        visitor.button("Close").last.click()
    player.press(player.marked("selected").pop())
    player.press(next(at for at, (words, _) in player.cells().items() if words[0] == "enemy piece"))
    look("note")
    page.keyboard.press("Escape")
    player.turns(2)
    if not player.over():
        visitor.resign()
    look("over")
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".graph path.value.red")
    page.keyboard.press("ArrowRight")
    visitor.see(".chip").click()
    look("review")
    visitor.button("Play on from here").click()
    look("play-on")
    page.keyboard.press("Escape")
    visitor.open()
    page.get_by_text("Your results").click()
    look("results")
    assert found == {}


def test_axe_finds_a_barrier_that_is_planted(visit, axe):
    visitor = visit()
    page = visitor.open().page
    page.evaluate("document.getElementById('main').append(document.createElement('textarea'))")
    assert any(each.startswith("label: ") for each in violations(page, axe))


@pytest.mark.parametrize(("locale", "play"), [("en-US", "Play"), ("de-DE", "Spielen")])
def test_no_words_are_cut_off_on_a_phone(visit, locale, play):
    """No button is narrower than what stands on it."""
    visitor = visit(**PHONE, locale=locale)
    visitor.open()
    visitor.see(".setup .piece")
    assert visitor.page.evaluate(CUT) == []
    visitor.fits()
    visitor.choose(level="recruit")
    visitor.button(play).tap()
    visitor.see(".bottom-card.turn")
    assert visitor.page.evaluate(CUT) == []
    visitor.fits()


SPILT = """() => [...document.querySelectorAll(".note-button")].filter((button) => {
    const { left, right } = button.getBoundingClientRect(), text = button.lastElementChild?.getBoundingClientRect();
    return button.scrollWidth > button.clientWidth || (text && (text.left < left || text.right > right));
}).map((each) => each.textContent)"""
"""Return the notes whose words leave their button."""


def test_the_names_of_all_pieces_stay_on_their_buttons_when_one_is_noted(visit):
    visitor = visit()
    visitor.start(variant="classic")
    page = visitor.page
    page.locator(".table .cell[data-at=e8]").click()
    expect(visitor.see("dialog.sheet").get_by_role("button", name="Note: lieutenant")).to_be_visible()
    # In other languages they are longer.
    page.locator(".note-button:has-text('lieutenant') span").evaluate("each => { each.textContent = 'Unteroffizier'; }")
    for width, height in ((1280, 800), (820, 1180), (480, 800), (360, 740), (320, 640)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(SPILT) == [], width
        visitor.fits()
    page.set_viewport_size({"width": 1280, "height": 800})
    visitor.picture("notes-desktop")


def test_a_question_about_moves_is_not_asked_any_more_when_the_game_is_left(visit):
    visitor = visit(**PHONE)
    visitor.open()
    visitor.choose(level="recruit")
    visitor.button("Play").tap()
    visitor.see(".toast", has_text="Confirm each move before it is played?")
    visitor.page.get_by_role("link", name="Vauban, start page").tap()
    visitor.see(".home")
    assert visitor.page.locator(".toast").count() == 0


COVERED = """() => {
    const toast = document.querySelector(".toast").getBoundingClientRect();
    const over = ({left, right, top, bottom}) =>
        left < toast.right && right > toast.left && top < toast.bottom && bottom > toast.top;
    const moves = innerWidth > 1000 ? ".moves, .status, " : "";
    const pressed = moves + ".board, .status button, .actions button, .play, .answers button, dialog button";
    return [...document.querySelectorAll(pressed)].filter((each) => over(each.getBoundingClientRect()))
        .map((each) => each.className + each.textContent);
}"""
"""Return what a message covers of what is to be pressed, and of the moves where there is room beside them."""
TOAST = "text => import('/static/js/dom.js').then(({toast}) => void toast(text, {seconds: 60}))"


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_messages_cover_nothing_that_is_to_be_pressed(visit, size):
    look: dict[str, Any] = {"viewport": {"width": 360, "height": 740}} if size == "phone" else {}
    host, guest = visit(**look), visit()
    friends(host, guest)
    page = host.page

    def settled() -> list[str]:
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found: list[str] = page.evaluate(COVERED)
        return found

    page.evaluate(TOAST, "A message of some length, which takes two lines on a phone.")
    assert settled() == []
    # It gives way to an offer that comes later, and to what one scrolls below it.
    guest.button("Offer a draw").click()
    guest.page.locator("dialog").get_by_role("button", name="Offer a draw").click()
    host.see(".offer")
    assert settled() == []
    host.picture(f"toast-{size}")
    if size == "phone":
        for down in (40, 90, 160, 240, 1000):
            page.evaluate("down => scrollTo(0, down)", down)
            assert settled() == []
    host.button("Decline").click()
    # On the start screen, neither.
    host.open()
    host.see(".setup .piece")
    page.evaluate(TOAST, "A message.")
    assert settled() == []


def test_on_a_phone_the_opponents_are_folded_and_the_setup_is_on_the_first_screen(visit, axe):
    visitor = visit(**PHONE)
    page, keys = visitor.open().page, visitor.page.keyboard
    visitor.see(".setup .piece")
    top = page.locator(".setup").bounding_box()
    assert top is not None and top["y"] < 740
    picker = page.locator(".picker", has=page.locator("input[name=level]"))
    expect(picker.locator("input").first).to_be_hidden()
    expect(picker.locator("summary")).to_contain_text("Opponent")
    # By keyboard: it opens, stays open while one goes through the list, and shows who is chosen.
    picker.locator("summary").focus()
    keys.press("Enter")
    picker.locator("input:checked").focus()
    for name in ("recruit", "marshal"):
        picker.locator("input:checked").press("ArrowUp")
        for _ in range(9):
            if picker.locator("input:checked").get_attribute("value") == name:
                break
            keys.press("ArrowUp")
        expect(picker.locator("summary strong")).to_have_text(name.capitalize())
        expect(picker).to_have_attribute("open", "")
    assert violations(page, axe) == []
    visitor.picture("opponents-phone")
    # By touch: one press chooses and folds it, and the focus is not lost.
    picker.locator("input[value=cadet]").tap()
    expect(picker.locator("input").first).to_be_hidden()
    expect(picker.locator("summary")).to_contain_text("Cadet")
    assert page.evaluate("document.activeElement.matches('.picker summary')")
    visitor.fits()
    # Where there is room nothing is folded.
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(picker.locator("input[value=cadet]")).to_be_visible()
    expect(picker.locator("summary")).to_be_hidden()


# ── For the README ───────────────────────────────────────────────────────────────────────────────


def test_pictures_are_taken_of_a_game_and_of_looking_back_on_it(visit):
    """Take the pictures that `make pictures` puts into docs/pictures, beside those of other tests."""
    visitor = visit()
    page = visitor.open().page
    visitor.choose(level="general")
    visitor.give("BF.......O/GS......../N........./OM........")
    page.get_by_text("Saved setups, text").click()
    page.evaluate("scrollTo(0, 0)")
    visitor.picture("readme-start")
    visitor.button("Play").click()
    visitor.see(".bottom-card.turn")
    player = Player(visitor, seed=5)
    # A fight that has just been makes a better picture.
    for turn in range(12):
        player.turns(1)
        if turn > 3 and page.locator(".battle").count():
            break
    if not player.over():
        player.find()
        visitor.picture("readme-game")
        visitor.resign()
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".graph path.value.red")
    visitor.button("Switch to dark").click()
    for _ in range(9):
        visitor.button("One move on").click()
    page.locator(".chip").first.click()
    page.evaluate("scrollTo(0, 0)")
    visitor.picture("readme-review")
