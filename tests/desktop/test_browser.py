"""The page in a real browser, by real mouse and keyboard: click, type, drag, scroll; and what is seen."""

import asyncio

import numpy as np
import pytest
from chromium import Chromium, find_chromium
from test_page import serving

from lanewise.desktop.display.page import LONGEST_MESSAGE


@pytest.fixture
def program():
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium is installed (Debian: chromium)")
    return found


async def until(holds, seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.05)


def test_a_person_clicks_types_drags_and_scrolls(device, program):
    async def story():
        async with serving(device) as served, Chromium(program) as browser:
            await browser.do("Page.navigate", url=served.addresses[-1])
            await browser.wait_for("Number(document.getElementById('screen')?.dataset.messages) > 0")
            corner = await browser.evaluate(
                "(({left, top}) => [left, top])(document.getElementById('screen').getBoundingClientRect())"
            )

            def place(node, dx=0.5, dy=0.5):
                x, y, width, height = node.box
                return corner[0] + x + width * dx, corner[1] + y + height * dy

            await browser.click(*place(served.button))
            await until(lambda: served.clicks == ["saved"])

            await browser.click(*place(served.field))
            await browser.type("Grüße")
            await until(lambda: served.field.text == "Grüße")

            x, y = place(served.list)
            await browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=600)
            await until(lambda: int(served.desktop.machine.widget(served.list.number)["scroll_y"]) == 600)
            await browser.click(*place(served.list, 0.3, 0.1))
            await until(lambda: served.list.value >= 20)

            x, y = place(served.window.title, 0.3)
            await browser.mouse("mouseMoved", x, y)
            await browser.mouse("mousePressed", x, y, button="left", clickCount=1)
            await browser.mouse("mouseMoved", x + 30, y + 20, button="left")
            await browser.mouse("mouseReleased", x + 30, y + 20, button="left", clickCount=1)
            await until(lambda: served.window.box[:2] == (70, 50))

            assert await browser.evaluate("document.getElementById('state').textContent") == ""
            assert await browser.evaluate("location.search") == ""  # the token is gone from the address bar
            async with asyncio.timeout(30):
                while True:
                    seen = (await browser.screenshot()).astype(int)
                    left, top = (int(edge + 0.5) for edge in corner)  # halves are drawn upwards
                    expected = served.desktop.pixels()[..., :3].astype(int)
                    differs = np.abs(seen[top : top + 360, left : left + 480] - expected).max(axis=2)
                    if (differs > 24).mean() < 0.005:  # the caret may blink between the two
                        break
                    await asyncio.sleep(0.1)

    asyncio.run(story())


def test_a_press_that_the_browser_takes_away_is_no_click_and_holds_nothing(device, program):
    async def story():
        async with serving(device) as served, Chromium(program) as browser:
            await browser.do("Page.navigate", url=served.addresses[-1])
            await browser.wait_for("Number(document.getElementById('screen')?.dataset.messages) > 0")
            box = "document.getElementById('screen').getBoundingClientRect()"
            left, top = await browser.evaluate(f"(({{left, top}}) => [left, top])({box})")
            x, y, _, _ = served.button.box
            await browser.mouse("mousePressed", left + x + 9, top + y + 9, button="left", clickCount=1)
            captured = lambda: int(served.desktop.last.state["captured"])  # noqa: E731
            await until(lambda: captured() == served.button.number)
            await browser.evaluate("document.getElementById('screen').dispatchEvent(new Event('pointercancel')) && 1")
            await until(lambda: captured() == -1)
            assert served.clicks == []

    asyncio.run(story())


async def write_in_field(browser, served):
    """Open the page, and put the caret into the desktop's field."""
    await browser.do("Page.navigate", url=served.addresses[-1])
    await browser.wait_for("Number(document.getElementById('screen')?.dataset.messages) > 0")
    box = "document.getElementById('screen').getBoundingClientRect()"
    left, top = await browser.evaluate(f"(({{left, top}}) => [left, top])({box})")
    x, y, _, _ = served.field.box
    await browser.click(left + x + 9, top + y + 9)


def test_texts_of_input_methods_and_dead_keys_come_when_they_are_whole(device, program):
    async def story():
        async with serving(device) as served, Chromium(program) as browser:
            await write_in_field(browser, served)
            await browser.do("Input.insertText", text="ξέ")
            await until(lambda: served.field.text == "ξέ")
            await browser.do("Input.dispatchKeyEvent", type="rawKeyDown", key="Dead", code="Quote")
            for composed in ("n", "ni"):
                end = len(composed)
                await browser.do("Input.imeSetComposition", text=composed, selectionStart=end, selectionEnd=end)
            await browser.do("Input.insertText", text="ñ")
            await browser.key("z", "KeyZ", "Control")
            await browser.type("!")
            await until(lambda: served.field.text.endswith("!"))
            assert served.field.text == "ξέñ!"

    asyncio.run(story())


def test_commands_work_on_keyboards_without_latin_letters_and_letters_with_alt_are_not_typed(device, program):
    async def story():
        async with serving(device) as served, Chromium(program) as browser:
            await write_in_field(browser, served)
            await browser.type("да")
            await browser.key("q", "KeyQ", "Alt")
            await browser.type("!")
            await until(lambda: served.field.text == "да!")
            await browser.key("ф", "KeyA", "Control")
            await browser.key("с", "KeyC", "Control")  # noqa: RUF001
            await until(lambda: served.desktop.clipboard == "да!")
            await browser.key("ч", "KeyX", "Control")
            await until(lambda: served.field.text == "")

    asyncio.run(story())


def test_a_page_that_is_cut_off_does_not_say_that_the_desktop_has_ended(device, program):
    async def story():
        said = "document.getElementById('state')?.textContent"
        async with Chromium(program) as browser:
            async with serving(device) as served:
                await browser.do("Page.navigate", url=served.addresses[-1])
                await browser.wait_for("Number(document.getElementById('screen')?.dataset.messages) > 0")
                await browser.evaluate(f"socket.send('x'.repeat({LONGEST_MESSAGE + 1}))")
                await browser.wait_for(f"{said}?.startsWith('the connection is lost')")
                await browser.evaluate("window.isTheOldOne = true")
                await browser.do("Page.reload")
                anew = "!window.isTheOldOne && Number(document.getElementById('screen')?.dataset.messages) > 0"
                await browser.wait_for(anew)
            await browser.wait_for(f"{said} === 'the desktop has ended'")

    asyncio.run(story())


def test_until_the_first_frame_the_page_says_what_it_waits_for(device, program):
    async def story():
        async with serving(device, running=False) as served, Chromium(program) as browser:
            await browser.do("Page.navigate", url=served.addresses[-1])
            said = "document.getElementById('state')?.textContent"
            await browser.wait_for(f"{said}?.startsWith('waiting for the first frame')")
            served.runner.start()
            await browser.wait_for(f"{said} === ''")
            assert await browser.evaluate("Number(document.getElementById('screen').dataset.messages)") > 0

    asyncio.run(story())


@pytest.mark.parametrize(("width", "height"), [(240, 600), (800, 200)], ids=["narrow", "low"])
def test_the_page_fits_a_small_window_and_the_pointer_is_where_it_is_seen(device, program, width, height):
    async def story():
        async with serving(device) as served, Chromium(program) as browser:
            await browser.do(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
            )
            await browser.do("Page.navigate", url=served.addresses[-1])
            await browser.wait_for("Number(document.getElementById('screen')?.dataset.messages) > 0")
            left, top, across, down = await browser.evaluate(
                "(({left, top, width, height}) => [left, top, width, height])"
                "(document.getElementById('screen').getBoundingClientRect())"
            )
            assert across / down == pytest.approx(480 / 360, rel=0.01)
            assert (across, down) == pytest.approx((min(width, height * 4 / 3), min(height, width * 3 / 4)), abs=1)
            assert left >= 0
            assert top >= 0
            assert await browser.evaluate("document.documentElement.scrollHeight <= innerHeight")
            assert await browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
            x, y, w, h = served.button.box
            scale = across / 480
            await browser.click(left + (x + 0.1 * w) * scale, top + (y + 0.5 * h) * scale)
            await until(lambda: served.clicks == ["saved"])

    asyncio.run(story())
