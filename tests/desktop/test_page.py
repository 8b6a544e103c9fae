"""The page: who may see it, what it sends, and what comes of events; by a client, and by a real browser."""

import asyncio
import contextlib

import numpy as np
import pytest
from aiohttp import ClientSession, CookieJar, WSServerHandshakeError

from lanewise.desktop import limits, ui
from lanewise.desktop.display.page import Page
from lanewise.desktop.display.runner import Runner
from lanewise.desktop.display.viewers import Screen, Viewer, decode


class Served:
    """A desktop with a page, and the addresses that it has offered."""

    def __init__(self, device) -> None:
        self.clicks: list[str] = []
        self.button = ui.Button("Save", on_click=lambda event: self.clicks.append("saved"))
        self.field = ui.Field("")
        self.list = ui.List([f"Row {k}" for k in range(500)])
        self.window = ui.Window("Page", ui.Row(self.button, self.field), self.list, x=40, y=30, width=360, height=280)
        self.desktop = ui.Desktop(self.window, width=480, height=360, device=device, groups="one")
        self.desktop.settle()
        self.runner = Runner(self.desktop)
        self.addresses: list[str] = []
        self.page = Page(self.runner, self.addresses.append)

    @property
    def root(self) -> str:
        return self.addresses[0].partition("/?")[0]


@contextlib.asynccontextmanager
async def serving(device, running: bool = True):
    """A page; without `running` no frame is made until the test starts the runner."""
    served = Served(device)
    await served.page.start()
    if running:
        served.runner.start()
    try:
        yield served
    finally:
        await served.page.close()
        await asyncio.to_thread(served.runner.close)


def browser() -> ClientSession:
    """A client that keeps cookies, of an address of numbers too."""
    return ClientSession(cookie_jar=CookieJar(unsafe=True))


async def watch(session: ClientSession, served: Served):
    """Enter by the newest address and open the socket."""
    async with session.get(served.addresses[-1]) as answer:
        assert answer.status == 200
    return await session.ws_connect(f"{served.root}/events", origin=served.root)


@contextlib.asynccontextmanager
async def watching(served: Served):
    """A viewer that closes its socket when it goes."""
    async with browser() as session, await watch(session, served) as socket:
        yield Copy(socket)


class Copy:
    """The screen as a viewer knows it."""

    def __init__(self, socket) -> None:
        self.socket = socket
        self.pixels = None
        self.messages = 0
        self.newest: list[int] = []
        """The tiles of the last message."""

    async def take(self, until, seconds: float = 20) -> None:
        """Take messages until a condition holds."""
        async with asyncio.timeout(seconds):
            while not until():
                message = await self.socket.receive()
                if isinstance(message.data, str):
                    said = message.json()
                    self.across, self.down = (-(-said[side] // limits.TILE) for side in ("width", "height"))
                    self.pixels = np.zeros((self.across * self.down, limits.TILE, limits.TILE), np.uint32)
                    continue
                _, tiles, pixels = decode(message.data)
                self.pixels[tiles] = pixels
                self.messages += 1
                self.newest = tiles.tolist()
                await self.socket.send_json({"event_type": "taken"})

    def screen(self, width: int, height: int) -> np.ndarray:
        rows = self.pixels.reshape(self.down, self.across, limits.TILE, limits.TILE).swapaxes(1, 2)
        return rows.reshape(self.down * limits.TILE, self.across * limits.TILE)[:height, :width]


def test_a_viewer_sees_the_screen_and_moves_things(device):
    async def story():
        async with serving(device) as served, watching(served) as copy:
            await copy.take(lambda: copy.messages > 0)
            x, y, width, height = served.button.box
            place = {"x": x + width / 2, "y": y + height / 2, "button": 1, "modifiers": []}
            for kind in ("pointer_move", "pointer_down", "pointer_up"):
                await copy.socket.send_json({"event_type": kind, **place})
            await copy.take(lambda: served.clicks)
            expected = lambda: served.desktop.pixels().view(np.uint32)[..., 0]  # noqa: E731
            async with asyncio.timeout(20):
                while served.desktop.restless:
                    await asyncio.sleep(0.05)
            await copy.take(lambda: np.array_equal(copy.screen(480, 360), expected()))
            assert served.clicks == ["saved"]

    asyncio.run(story())


def test_only_tiles_that_changed_are_sent(device):
    async def story():
        async with serving(device) as served, watching(served) as copy:
            await copy.take(lambda: copy.messages > 0)
            assert len(copy.newest) == copy.across * copy.down
            x, y, width, height = served.button.box
            await copy.socket.send_json({"event_type": "pointer_move", "x": x + 9, "y": y + 9})
            hovered = lambda: served.desktop.machine.widget(served.button.number)["hover"] == 1  # noqa: E731
            shown = lambda: served.desktop.pixels().view(np.uint32)[..., 0]  # noqa: E731
            async with asyncio.timeout(20):
                while not hovered():
                    await asyncio.sleep(0.05)
            await copy.take(lambda: np.array_equal(copy.screen(480, 360), shown()))
            reach = limits.TILE // 2  # of the shadow, and of what is marked around it
            near = {
                row * copy.across + column
                for row in range((y - reach) // limits.TILE, (y + height + reach) // limits.TILE + 1)
                for column in range((x - reach) // limits.TILE, (x + width + reach) // limits.TILE + 1)
            }
            assert set(copy.newest) <= near

    asyncio.run(story())


def test_a_viewer_that_goes_lets_go_of_what_it_drags(device):
    async def story():
        async with serving(device) as served, watching(served) as other:
            await other.take(lambda: other.messages > 0)
            x, y, _, _ = served.window.box
            async with watching(served) as copy:
                await copy.socket.send_json({"event_type": "pointer_down", "x": x + 30, "y": y + 10, "button": 1})
                await copy.socket.send_json({"event_type": "pointer_move", "x": x + 50, "y": y + 20})
                await other.take(lambda: served.window.box[:2] == (x + 20, y + 10))
            held = lambda: served.desktop.last.state["captured"] >= 0  # noqa: E731
            async with asyncio.timeout(20):
                while held():
                    await asyncio.sleep(0.01)
            await other.socket.send_json({"event_type": "pointer_down", "x": x + 50, "y": y + 20, "button": 1})
            async with watching(served):
                pass  # one that goes without having pressed anything takes nothing out of another's hand
            await other.socket.send_json({"event_type": "pointer_move", "x": x + 60, "y": y + 20})
            await other.take(lambda: served.window.box[:2] == (x + 30, y + 10))

    asyncio.run(story())


def test_a_viewer_gets_no_pixels_before_there_is_a_frame(device):
    async def story():
        async with serving(device, running=False) as served, watching(served) as copy:
            assert isinstance((await copy.socket.receive()).data, str)
            with pytest.raises(asyncio.TimeoutError):
                await copy.socket.receive(0.3)
            served.runner.start()
            assert decode((await copy.socket.receive(20)).data)[2].any()

    asyncio.run(story())


def test_an_address_works_once_and_the_next_is_offered(device):
    async def story():
        async with serving(device) as served:
            async with browser() as first, first.get(served.addresses[0]) as answer:
                assert answer.status == 200
            assert len(served.addresses) == 2
            async with browser() as thief, thief.get(served.addresses[0]) as answer:
                assert answer.status == 403
            async with browser() as second, second.get(served.addresses[1]) as answer:
                assert answer.status == 200

    asyncio.run(story())


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_other_hosts_and_origins_are_refused(device, headers):
    async def story():
        async with serving(device) as served, browser() as session:
            async with session.get(served.addresses[0], headers=headers) as answer:
                assert answer.status == 403
            assert len(served.addresses) == 1  # and the token is still good
            async with session.head(served.addresses[0]) as answer:
                assert answer.status == 405
            async with session.get(served.addresses[0]) as answer:
                assert answer.status == 200
            with pytest.raises(WSServerHandshakeError):
                await session.ws_connect(f"{served.root}/events", headers=headers)

    asyncio.run(story())


@pytest.mark.parametrize("path", ["/", "/page.js", "/events", "/?token=", "/?token=wrong"])
def test_without_a_token_nothing_is_shown(device, path):
    async def story():
        async with (
            serving(device) as served,
            browser() as session,
            session.get(served.root + path, headers={"Origin": served.root}) as answer,
        ):
            assert answer.status == 403

    asyncio.run(story())


def test_a_socket_needs_an_origin(device):
    async def story():
        async with serving(device) as served, browser() as session:
            async with session.get(served.addresses[-1]) as answer:
                assert answer.status == 200
            with pytest.raises(WSServerHandshakeError):
                await session.ws_connect(f"{served.root}/events")

    asyncio.run(story())


def test_nonsense_from_a_viewer_is_left_out(device):
    async def story():
        async with serving(device) as served, watching(served) as copy:
            await copy.take(lambda: copy.messages > 0)
            for nonsense in ("", "[]", "{", '{"event_type": 3}', '{"event_type": "pointer_move", "x": "left"}'):
                await copy.socket.send_str(nonsense)
            await copy.socket.send_str("[" * 60_000)
            await copy.socket.send_str('{"event_type": "paste", "data": ' + "[" * 900 + "]" * 900 + "}")
            await copy.socket.send_str(f'{{"event_type": "pointer_move", "x": 1{"0" * 400}, "y": 3}}')
            for odd in ({"event_type": "paste", "data": "\ud800"}, {"event_type": "char", "data": "\udfff"}):
                await copy.socket.send_json(odd)
            await copy.socket.send_json({"event_type": "pointer_move", "modifiers": ["Shift", "Shift", "Hyper"]})
            x, y, _, _ = served.button.box
            for kind in ("pointer_move", "pointer_down", "pointer_up"):
                await copy.socket.send_json({"event_type": kind, "x": x + 9, "y": y + 9, "button": 1})
            await copy.take(lambda: served.clicks)

    asyncio.run(story())


def test_viewers_of_a_desktop_that_has_ended_come_and_go_in_silence(device, caplog):
    async def story():
        async with serving(device) as served:
            async with watching(served) as copy:
                await copy.take(lambda: copy.messages > 0)
                x, y, _, _ = served.window.box
                await copy.socket.send_json({"event_type": "pointer_down", "x": x + 30, "y": y + 10, "button": 1})
                async with asyncio.timeout(20):
                    while served.desktop.last.state["captured"] < 0:
                        await asyncio.sleep(0.01)
                await asyncio.to_thread(served.runner.close)
                for event in ({"event_type": "pointer_move", "x": 1, "y": 2}, {"event_type": "copy"}):
                    await copy.socket.send_json(event)
            async with watching(served) as copy:
                assert isinstance((await copy.socket.receive()).data, str)

    asyncio.run(story())
    assert caplog.records == []


def test_a_viewer_that_says_too_much_fills_no_line(device):
    async def story():
        async with serving(device, running=False) as served, watching(served) as copy:
            await copy.socket.send_json({"event_type": "char", "data": "x" * 1000})
            for _ in range(100):
                await copy.socket.send_json({"event_type": "copy"})
                await copy.socket.send_json({"event_type": "paste", "data": "x" * 4096})
            await copy.socket.send_json({"event_type": "char", "data": "y"})
            await asyncio.sleep(0.2)  # a message that is heard too early would be seen now
            assert not served.runner._inputs  # no character of the first message, nor the one behind what waits
            assert len(served.runner._calls) <= 2  # one for the viewer, one that says that it is there
            served.runner.start()
            async with asyncio.timeout(20):
                while not served.desktop.clipboard.startswith("x"):
                    await asyncio.sleep(0.01)  # it goes on from there

    asyncio.run(story())


def test_pages_of_two_desktops_leave_each_other_alone(device):
    async def story():
        async with serving(device) as one, serving(device) as other, browser() as session:
            for served in (one, other):
                async with session.get(served.addresses[-1]) as answer:
                    assert answer.status == 200
            for served in (one, other):
                async with session.get(f"{served.root}/") as answer:  # the page is loaded again
                    assert answer.status == 200

    asyncio.run(story())


def test_a_viewer_that_is_gone_ends_in_silence():
    class Gone:
        closed = False

        async def send_bytes(self, message):
            raise ConnectionResetError("Cannot write to closing transport")

    async def story():
        screen = Screen(1)
        screen.drawn = True
        await asyncio.wait_for(Viewer(screen, Gone()).send(), 20)

    asyncio.run(story())


def test_a_viewer_that_takes_nothing_holds_up_nobody(device):
    async def story():
        async with serving(device) as served, watching(served) as slow, watching(served) as copy:
            stuck = slow.socket
            await copy.take(lambda: copy.messages > 0)
            x, y, _, _ = served.field.box
            await copy.socket.send_json({"event_type": "pointer_down", "x": x + 9, "y": y + 9, "button": 1})
            for letter in "quick":
                await copy.socket.send_json({"event_type": "char", "data": letter})
            await copy.take(lambda: served.field.text == "quick")
            received = [await stuck.receive(), await stuck.receive()]
            with pytest.raises(asyncio.TimeoutError):
                await stuck.receive(0.2)  # it has not said that it took the first
            assert isinstance(received[1].data, bytes)
            assert len(served.page.screen.viewers) == 2

    asyncio.run(story())


def test_what_a_viewer_has_not_seen_is_gathered():
    screen = Screen(10)

    class Waiting:
        unseen = np.zeros(10, bool)
        ready = asyncio.Event()

    viewer = Waiting()
    screen.viewers.add(viewer)
    for numbers in ([1, 2], [2, 7]):
        screen.update(np.array(numbers), np.full((2, limits.TILE, limits.TILE), numbers[1], np.uint32))
    assert np.flatnonzero(viewer.unseen).tolist() == [1, 2, 7]
    assert screen.pixels[2, 0, 0] == 7


async def told(copy):
    """What the page is told next, besides its pixels."""
    async with asyncio.timeout(20):
        while not isinstance((message := await copy.socket.receive()).data, str):
            await copy.socket.send_json({"event_type": "taken"})
    return message.json()


def test_text_that_is_copied_in_the_next_frame_is_the_text_that_is_told(device):
    async def story():
        async with serving(device, running=False) as served, watching(served) as copy:
            served.desktop.clipboard = "old"
            x, y, _, _ = served.field.box
            for one in (
                {"event_type": "pointer_down", "x": x + 9, "y": y + 9, "button": 1},
                {"event_type": "char", "data": "n"},
                {"event_type": "key_down", "key": "a", "modifiers": ["Control"]},
                {"event_type": "key_down", "key": "c", "modifiers": ["Control"]},
                {"event_type": "copy"},
            ):
                await copy.socket.send_json(one)
            async with asyncio.timeout(20):
                while len(served.runner._calls) < 2:  # all of it is in line for one frame
                    await asyncio.sleep(0.01)
                served.runner.start()
                while True:
                    message = await copy.socket.receive()
                    if isinstance(message.data, str) and "copied" in message.data:
                        assert message.json() == {"copied": "n"}
                        break

    asyncio.run(story())


def test_pasted_text_is_typed_and_copied_text_told(device):
    async def story():
        async with serving(device) as served, watching(served) as copy:
            await copy.take(lambda: copy.messages > 0)
            x, y, _, _ = served.field.box
            await copy.socket.send_json({"event_type": "pointer_down", "x": x + 9, "y": y + 9, "button": 1})
            await copy.socket.send_json({"event_type": "paste", "data": "Grüße"})
            await copy.take(lambda: served.field.text == "Grüße")
            await copy.socket.send_json({"event_type": "key_down", "key": "a", "modifiers": ["Control"]})
            await copy.socket.send_json({"event_type": "key_down", "key": "c", "modifiers": ["Control"]})
            await copy.socket.send_json({"event_type": "copy"})
            assert await told(copy) == {"copied": "Grüße"}

    asyncio.run(story())


def test_the_clipboard_of_a_person_stays_where_nothing_was_copied(device):
    async def story():
        async with serving(device) as served, watching(served) as copy:
            await copy.take(lambda: copy.messages > 0)
            served.desktop.clipboard = "older"
            x, y, _, _ = served.field.box
            await copy.socket.send_json({"event_type": "pointer_down", "x": x + 9, "y": y + 9, "button": 1})
            for text in ("", "n"):  # with nothing selected, and with something
                if text:
                    await copy.socket.send_json({"event_type": "char", "data": text})
                    await copy.socket.send_json({"event_type": "key_down", "key": "a", "modifiers": ["Control"]})
                await copy.socket.send_json({"event_type": "key_down", "key": "c", "modifiers": ["Control"]})
                await copy.socket.send_json({"event_type": "copy"})
            assert await told(copy) == {"copied": "n"}

    asyncio.run(story())


def test_only_this_machine_is_served_and_the_cookie_is_for_nobody_else(device):
    async def story():
        async with serving(device, running=False) as served, ClientSession() as session:
            (socket,) = (one for site in served.page._served.sites for one in site._server.sockets)
            assert socket.getsockname()[0] == "127.0.0.1"
            async with session.get(served.addresses[-1]) as answer:
                said = answer.headers["Set-Cookie"]
                assert "HttpOnly" in said
                assert "SameSite=Strict" in said
                assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
                assert answer.headers["X-Frame-Options"] == "DENY"
                assert answer.headers["Referrer-Policy"] == "no-referrer"

    asyncio.run(story())
