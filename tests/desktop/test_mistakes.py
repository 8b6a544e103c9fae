"""What people get wrong with the toolkit is said at once, in one sentence: the widget, the argument, what fits."""

import inspect

import numpy as np
import pytest

import lanewise as lw
from lanewise.desktop import ui
from lanewise.desktop.state import Desk, Notice
from lanewise.lang import Ptr, device, i32, kernel

WIDGETS = {
    ui.Label: ("x",),
    ui.Button: ("x",),
    ui.Checkbox: ("x",),
    ui.Switch: ("x",),
    ui.Radio: ("x",),
    ui.Slider: (),
    ui.Progress: (),
    ui.Field: (),
    ui.List: (["x"],),
    ui.Menu: (["x"],),
    ui.Image: (np.zeros((2, 2, 3), np.uint8),),
    ui.Canvas: (2, 2),
    ui.Tabs: ({"x": ui.Label("x")},),
    ui.Window: ("x",),
    ui.Panel: (),
    ui.Row: (),
    ui.Column: (),
    ui.Scroll: (),
    ui.Spacer: (),
    ui.Node: (),
}
REQUIRED = {ui.Radio: {"group": "g"}}


class Odd:
    """Something that no argument may be."""

    def __repr__(self):
        return "<odd>"


def arguments():
    """Every argument of every widget as a case of its own: of its constructor, and by name of those it inherits."""
    cases = {}
    for widget in WIDGETS:
        makers = [vars(each)["__init__"] for each in widget.__mro__[:-1] if "__init__" in vars(each)]
        for maker in makers:
            for each in inspect.signature(maker).parameters.values():
                kinds = (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD) if maker is makers[0] else (each.KEYWORD_ONLY,)
                if each.kind in kinds and each.name not in ("self", "parts"):
                    cases[f"{widget.__name__}-{each.name}"] = widget, each.name
    return [pytest.param(*case, id=name) for name, case in cases.items()]


@pytest.mark.parametrize(("widget", "name"), arguments())
def test_every_argument_of_every_widget_says_what_it_should_be(widget, name):
    positional = [each for each in inspect.signature(widget.__init__).parameters.values() if each.name != "self"]
    given = list(WIDGETS[widget])
    named = dict(REQUIRED.get(widget, {}))
    index = next((at for at, each in enumerate(positional) if each.name == name), len(given))
    if index < len(given):
        given[index] = Odd()
    else:
        named[name] = Odd()
    with pytest.raises(lw.ArgumentError) as raised:
        widget(*given, **named)
    said = str(raised.value)
    assert said.startswith(widget.__name__)
    assert f"{name} is <odd>" in said
    assert "; it is " in said
    assert "\n" not in said


def test_every_widget_of_the_toolkit_is_among_these():
    exported = (getattr(ui, name) for name in ui.__all__)
    assert {each for each in exported if isinstance(each, type) and issubclass(each, ui.Node)} == set(WIDGETS)


@device
def of_one(desk: Ptr[Desk]):
    pass


@kernel
def with_threads(desk: Ptr[Desk], event: Ptr[Notice]):
    pass


@device
def of_numbers(desk: Ptr[Desk], event: i32):
    pass


async def later(event):
    pass


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: ui.Label(5), "Label: text is 5; it is a string"),
        (lambda: ui.List([1, 2]), r"List: rows is \[1, 2\]; it is a list of strings"),
        (lambda: ui.List("abc"), "List: rows is 'abc'; it is a list of strings"),
        (lambda: ui.List(["a"], chosen=1), "List: chosen is 1; it is a whole number from -1 to 0"),
        (lambda: ui.Slider("a"), "Slider: value is 'a'; it is a number from 0 to 100, or None"),
        (lambda: ui.Slider(150), "Slider: value is 150; it is a number from 0 to 100"),
        (lambda: ui.Slider(float("nan")), "Slider: value is nan"),
        (lambda: ui.Slider(10**400), "Slider: value is a whole number of 1,329 bits; it is a number from 0 to 100"),
        (lambda: ui.Slider(0, minimum=1, maximum=1), "Slider: maximum is 1; it is above the minimum, which is 1"),
        (lambda: ui.Slider(maximum=1e300), r"Slider: maximum is 1e\+300; it is a number, at most 3.4e\+38 from 0$"),
        (
            lambda: ui.Slider(minimum=-3e38, maximum=3e38),
            "Slider: from -3e.38 to 3e.38 is further than a",
        ),
        (lambda: ui.Slider(maximum="x"), "Slider: maximum is 'x'; it is a number$"),
        (
            lambda: ui.Slider(minimum=1e9, maximum=1e9 + 1),
            "maximum is 1000000001.0; it is above the minimum, which is 1000000000.0, by more than floats of 32",
        ),
        (lambda: ui.Window("x", x=1e39), r"Window 'x': x is 1e\+39; it is a number, at most 3.4e\+38 from 0, or None"),
        (lambda: ui.Window("x", width=1e39), r"width is 1e\+39; it is a number, 120 or above, at most 3.4e\+38 from 0"),
        (lambda: ui.Progress(0, maximum=1e-50), "Progress: maximum is 1e-50; it is a number above 0"),
        (lambda: ui.Button("x", target="y"), "Button 'x': target is 'y'; it is a widget, or None$"),
        (lambda: ui.Progress(101), "Progress: value is 101; it is a number from 0 to 100"),
        (lambda: ui.Button("x", on_click=3), "Button: on_click is 3; it is a function of one event"),
        (lambda: ui.Button("x", on_click=lambda: None), "Button: on_click is <function .*; it is a function of one"),
        (lambda: ui.Button("x", on_click=lambda a, b: None), "Button: on_click is .*; it is a function of one event"),
        (lambda: ui.Button("x", on_click=of_one), "Button: on_click is .*a device function of a desktop and an event"),
        (
            lambda: ui.Button("x", on_click=with_threads),
            "Button: on_click is <kernel with_threads>; it is .* a device function of .* an event, marked @device",
        ),
        (
            lambda: ui.Button("x", on_click=later),
            "Button: on_click is <function later .*; it is a function of one event",
        ),
        (
            lambda: ui.Button("x", on_click=of_numbers),
            r"Button 'x': a handler is of_numbers\(desk: .*, event: i32\); on the device it takes desk: Ptr\[Desk\]",
        ),
        (
            lambda: ui.Desktop(
                ui.Window("W", *(ui.Radio(text, group="g", checked=True) for text in "ab")), device="cpu"
            ),
            "Window 'W' > Radio 'b': Radio 'a' of its group is checked, too; one can be",
        ),
        (lambda: ui.Label("x", capacity=-1), "Label: capacity is -1; it is a whole number from 0 to"),
        (lambda: ui.Button("x", colr="red"), "Button 'x' has no 'colr'; there are accent, on_click,"),
        (lambda: ui.Button("x", on_clik=print), "Button 'x' has no 'on_clik'; did you mean 'on_click'?"),
        (lambda: ui.Button("x", paddding=3), "Button 'x' has no 'paddding'; did you mean 'padding'?"),
        (lambda: ui.Label(), r"Label: missing a required argument: 'text'; write ui.Label\(text\), the rest by name"),
        (lambda: ui.Slider(5, 0, 10), r"Slider: too many positional arguments; write ui.Slider\(value\), the rest"),
        (lambda: ui.Window(), r"Window: missing a required argument: 'title'; write ui.Window\(title, \*children\)"),
        (lambda: ui.Label("x", font_size=20), "Label 'x' has no 'font_size'"),
        (lambda: ui.Slider(5, text="Volume"), "Slider has no 'text'"),
        (lambda: ui.Label("x", colour="red"), "Label: colour is 'red'; it is a colour, written #rrggbb"),
        (lambda: ui.Label("x", size=500), "Label: size is 500; it is a number from 10 to 64"),
        (lambda: ui.Label("x", align="left"), "Label: align is 'left'; it is start, center or end"),
        (lambda: ui.Label("x", width="wide"), "Label 'x': width is 'wide'; it is pixels, 0 or above"),
        (lambda: ui.Window("Hello", padding="much"), "Window 'Hello': padding is 'much'"),
        (lambda: ui.Column("text"), "Column: child 1 is 'text'; it is a widget; write ui.Label"),
        (lambda: ui.Column([ui.Label("x")]), r"Column: child 1 is \[<Label 'x'>\]; it is a widget; .*\*widgets"),
        (lambda: ui.Window("Hello", ui.Label("x"), "text"), "Window 'Hello': child 2 is 'text'; it is a widget"),
        (lambda: ui.Tabs({"One": "text"}), "Tabs: page 'One' is 'text'; it is a widget"),
        (
            lambda: ui.Tabs({"One": [ui.Label("x")]}),
            r"page 'One' is .*; it is a widget; .* and ui.Column\(\*widgets\) for several",
        ),
        (lambda: ui.Tabs({}), "Tabs: there are no pages"),
        (lambda: ui.Menu([]), "Menu: there are no lines"),
        (lambda: ui.Menu(["a"], chosen=1), "Menu: chosen is 1; it is a whole number from 0 to 0"),
        (lambda: ui.Field("abc", capacity=2), "Field: text has 3 characters; the field's capacity is 2"),
        (lambda: ui.Image([[1, 2], [3]]), "Image: picture is .*; it is an array of bytes, height x width x 3 or 4"),
        (lambda: ui.Image([[1, 2]]), "height x width x 3 or 4"),
        (
            lambda: ui.Image(np.zeros((1, 2**16, 3), np.uint8)),
            "Image: width of the picture is 65536; it is .* to 65,535",
        ),
        (lambda: ui.Canvas(2, 2**16), "Canvas: rows is 65536; it is a whole number from 1 to 65,535"),
        (lambda: ui.Canvas(3000, 3000), "Canvas: columns times rows is 9000000; it is a whole number from 1 to"),
        (
            lambda: ui.Button("x").text,
            r"Button 'x' is not on a desktop yet; windows\(\) returns the windows of one, or",
        ),
        (lambda: ui.Row(left=5), "Row has no 'left'; did you mean 'inset'?"),
        (lambda: ui.Row(flex=1), "Row has no 'flex'; did you mean 'flex_grow'?"),
        (lambda: ui.Row(order=1), "Row has no 'order'; there are target, "),
        (lambda: ui.Slider(5, min=0), "Slider has no 'min'; did you mean 'minimum'?"),
        (lambda: ui.Slider(5, command=print), "Slider has no 'command'; did you mean 'on_change'?"),
        (lambda: ui.Button("x", on_change=print), "Button 'x' has no 'on_change'; did you mean 'on_click'?"),
        (lambda: ui.Radio("x"), r"argument: 'group'; write ui.Radio\(text, group=...\), the rest by name"),
        (
            lambda: ui.Image("a.png"),
            r"Image: picture is the name of a file; give what is in it: PIL.Image.open\('a.png'\).convert\('RGBA'\)",
        ),
        (lambda: setattr(ui.Label("x"), "hidden", True), r"Label 'x': hidden is .*; write show\(\) or show\(False\)"),
        (lambda: setattr(ui.Field("x"), "on_submit", print), "Field 'x': on_submit is given when the widget is made"),
    ],
)
def test_a_widget_names_what_is_wrong_with_it(wrong, said):
    with pytest.raises(lw.ArgumentError, match=said):
        wrong()


def test_one_gap_is_that_of_rows_and_columns():
    made = ui.Row(gap=5, column_gap=7)
    assert (made.layout.row_gap, made.layout.column_gap) == (5, 7)
    with pytest.raises(lw.ArgumentError, match="Row: column_gap is 'wide'"):
        ui.Row(gap="wide")


@pytest.mark.parametrize(
    "fits",
    [
        lambda event: None,
        lambda *events: None,
        lambda event, more=3: None,
        print,
        [].append,
    ],
)
def test_whatever_takes_one_event_is_a_handler(fits):
    ui.Button("x", on_click=fits)


def nested():
    twice = ui.Label("twice")
    return ui.Window("Hello", ui.Row(twice), ui.Panel(ui.Column(twice)))


def too_deep():
    inner = ui.Label("deep")
    for _ in range(40):
        inner = ui.Row(inner)
    return inner


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: ui.Desktop(width="640"), "Desktop: width is '640'; it is a whole number"),
        (lambda: ui.Desktop("text"), "Desktop: window 1 is 'text'; it is a widget"),
        (lambda: ui.Desktop(device=3), "Desktop: device is 3; it is the name of a device, or a device"),
        (lambda: ui.Desktop(ui.Window("a"), widht=3), "Desktop has no 'widht'; did you mean 'width'?"),
        (lambda: ui.Desktop(windows=[]), r"unexpected keyword argument 'windows'; write ui.Desktop\(\*windows\), the"),
        (lambda: ui.Desktop(dpi=2), "Desktop has no 'dpi'; there are width, height, device, theme, font, groups"),
        (lambda: ui.Desktop(theme="pink"), "Desktop: theme is 'pink'; it is light or dark"),
        (lambda: ui.Desktop(groups="two"), "Desktop: groups is 'two'; it is one or all"),
        (lambda: ui.Desktop(font=3), "Desktop: font is 3; it is the path of a font"),
        (lambda: ui.Desktop(width=0, device="cpu"), "a screen of 0 x 720 pixels"),
        (lambda: ui.Desktop(*[ui.Label("x") for _ in range(300)], device="cpu"), "a desktop holds 256"),
        (
            lambda: ui.Desktop(ui.Window("Hello", ui.Row(ui.Button("x", target=ui.Label("y")))), device="cpu"),
            "Window 'Hello' > Row > Button 'x': its target, Label 'y', is not on the desktop",
        ),
        (
            lambda: ui.Desktop(nested(), device="cpu"),
            "Window 'Hello' > Panel > Column > Label 'twice': it is in a tree already",
        ),
        (
            lambda: ui.Desktop(ui.Window("Out", ui.Row(ui.Window("In"))), device="cpu"),
            "Window 'Out' > Row > Window 'In': a window stands on the desktop by itself; write ui.Panel",
        ),
        (lambda: ui.Desktop(too_deep(), device="cpu"), "Row > Row > .*: it is nested more than 32 deep"),
    ],
)
def test_a_desktop_names_what_is_wrong_with_it(wrong, said):
    with pytest.raises(lw.ArgumentError, match=said):
        wrong()


def test_widgets_of_a_desktop_that_was_not_made_can_be_tried_again(device):
    label = ui.Label("again")
    with pytest.raises(lw.ArgumentError, match="a screen of"):
        ui.Desktop(label, width=100_000, device=device)
    with pytest.raises(lw.ArgumentError, match="is not on the desktop"):
        ui.Desktop(label, ui.Button("x", target=ui.Label("y")), device=device)
    assert ui.Desktop(label, width=64, height=64, device=device).nodes[1] is label


@pytest.fixture(scope="module")
def desktop(device):
    widgets = {
        "label": ui.Label("Hello"),
        "button": ui.Button("Press"),
        "slider": ui.Slider(0.2, maximum=0.7),
        "progress": ui.Progress(3),
        "box": ui.Checkbox("Box"),
        "list": ui.List(["a", "b", "c"]),
        "menu": ui.Menu(["First", "Second"]),
        "one": ui.Radio("One", group="here", checked=True),
        "other": ui.Radio("Other", group="here"),
        "window": ui.Window("Inside"),
    }
    made = ui.Desktop(*widgets.values(), width=320, height=240, device=device, groups="one")
    made.widgets = widgets
    return made


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("click", "send: event is 'click'; it is a dictionary"),
        ({}, "send: event_type of the event is None; it is a string"),
        ({"event_type": "pointer_donw"}, "there is no event_type 'pointer_donw'; did you mean 'pointer_down'?"),
        ({"event_type": "click"}, "there is no event_type 'click'; there are pointer_move, pointer_down"),
        ({"event_type": "pointer_move"}, "the event pointer_move has no 'x'; it needs x, y"),
        ({"event_type": "pointer_move", "x": 3}, "the event pointer_move has no 'y'; it needs x, y"),
        ({"event_type": "pointer_down", "x": 3, "y": 4}, "pointer_down has no 'button'; it needs x, y, button"),
        ({"event_type": "wheel", "x": 3, "y": 4}, "wheel has no 'dy'"),
        ({"event_type": "wheel", "x": "left", "y": 4, "dy": 1}, "the event wheel: x is 'left'; it is a number"),
        ({"event_type": "pointer_move", "x": float("inf"), "y": 4}, "x is inf; it is a number"),
        ({"event_type": "key_down"}, "key_down has no 'key'"),
        ({"event_type": "key_down", "key": 13}, "the event key_down: key is 13; it is a string"),
        ({"event_type": "char"}, "char has no 'data'"),
        ({"event_type": "key_down", "key": "a", "modifiers": ["Ctrl"]}, "no modifier 'Ctrl'; did you mean 'Control'?"),
        ({"event_type": "key_down", "key": "a", "modifiers": "Shift"}, "modifiers is 'Shift'; it is a list of strings"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused(desktop, event, said):
    with pytest.raises(lw.ArgumentError, match=said.replace("?", r"\?")):
        desktop.send(event)
    assert desktop.machine.waiting == 0


def test_events_that_mean_nothing_to_a_desktop_are_left_out(desktop):
    desktop.send({"event_type": "resize", "width": 3, "height": 4})
    desktop.send({"event_type": "pointer_enter"})
    assert desktop.machine.waiting == 0


@pytest.mark.parametrize(
    ("name", "attribute", "value", "said"),
    [
        ("slider", "value", 0.8, "Slider: value is 0.8; it is a number from 0 to 0.7"),
        ("slider", "value", "high", "Slider: value is 'high'; it is a number"),
        ("progress", "value", -1, "Progress: value is -1; it is a number from 0 to 100"),
        ("box", "value", 2, "Checkbox 'Box': value is 2; it is 0 or 1"),
        ("box", "checked", "yes", "Checkbox 'Box': checked is 'yes'; it is True or False"),
        ("list", "value", 3, "List: value is 3; it is a whole number from -1 to 2"),
        ("list", "value", 0.5, "List: value is 0.5; it is a whole number"),
        ("list", "rows", ["d"], "List: rows stays what it was when the widget was made"),
        ("menu", "value", 2, "Menu: value is 2; it is a whole number from 0 to 1"),
        ("label", "text", 5, "Label 'Hello': text is 5; it is a string"),
        ("label", "text", "x" * 33, "Label 'Hello': text has 33 characters; there is room for 32"),
        ("label", "txt", "x", "Label 'Hello' has no 'txt' to set; did you mean 'text'?"),
        ("label", "size", 20, "Label 'Hello' has no 'size' to set; there are text, value, disabled, target"),
        ("label", "box", 20, "Label 'Hello': box cannot be set; it follows from the layout"),
        ("label", "checked", True, "Label 'Hello' has no 'checked' to set; there are text, value, disabled, target"),
        ("slider", "checked", True, "Slider has no 'checked' to set; there are value, disabled, target"),
        ("label", "show", True, "Label 'Hello': show stays what it was"),
        ("label", "target", None, "Label 'Hello': target stays what it was"),
        ("button", "text", "x", "Button 'Press': its text stays; those of a Label and a Field can be set"),
        ("button", "on_click", print, "Button 'Press': on_click is given when the widget is made"),
        ("window", "title", "x", "Window 'Inside': title stays what it was"),
    ],
)
def test_what_cannot_be_set_of_a_widget_is_refused(desktop, name, attribute, value, said):
    with pytest.raises(lw.ArgumentError) as raised:
        setattr(desktop.widgets[name], attribute, value)
    assert said in str(raised.value)


def test_what_can_be_set_is_what_the_device_has(desktop):
    slider, menu, box, one, other = (desktop.widgets[name] for name in ("slider", "menu", "box", "one", "other"))
    slider.value = 0.7
    slider.value = slider.value  # as the device rounds it
    assert slider.value == pytest.approx(0.7)
    menu.value = 1
    assert (menu.value, menu.button.text) == (1, "Second")
    box.checked = True
    assert (box.checked, box.value) == (True, 1)
    box.value = 0
    assert not box.checked
    assert (one.value, other.value) == (1, 0)
    other.checked = True
    assert (one.checked, other.checked, other.value) == (False, True, 1)
    desktop.widgets["list"].value = 2.0  # as an event gives it
    assert desktop.widgets["list"].value == 2


def test_halves_of_characters_are_left_out_wherever_they_come_from(device):
    half = "a\ud800b"
    field, label, rows = ui.Field(half), ui.Label(half), ui.List([half, "second"], chosen=0)
    made = ui.Desktop(field, label, rows, width=320, height=240, device=device, groups="one")
    made.settle()
    made.send({"event_type": "key_down", "key": "Tab"})
    made.send({"event_type": "char", "data": half})
    made.step()
    assert [each.text for each in (field, label, rows.children[0], rows.children[1])] == ["abab", "ab", "ab", "second"]


def test_what_a_widget_does_not_have_is_said_with_what_it_has():
    image = ui.Image(np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(
        AttributeError, match=r"^Image has no 'draw'; there are text, value, .*, show, target, desktop$"
    ):
        image.draw(image)
    with pytest.raises(AttributeError, match=r"^Canvas has no 'drow'; did you mean 'draw'\?"):
        ui.Canvas(2, 2).drow(image)
    assert not hasattr(image, "__array__")


def test_classes_of_others_have_attributes_of_their_own():
    class Counter(ui.Panel):
        step = 1

        def __init__(self):
            self.count = 0
            super().__init__()
            self.shown = ui.Label("0")

    counter = Counter()
    counter.count += 1
    counter.step = 2
    with pytest.raises(lw.ArgumentError, match="Counter has no 'cuont' to set"):
        counter.cuont = 3
    with pytest.raises(AttributeError, match=r"Counter has no 'cuont'; did you mean 'count'\?"):
        counter.cuont += 1
    with pytest.raises(lw.ArgumentError, match="children stays what it was"):
        counter.children = ()


def test_a_slider_starts_at_its_minimum():
    assert ui.Slider(minimum=5, maximum=9).fields["value"] == 5


def test_who_listens_takes_one_event(desktop):
    with pytest.raises(lw.ArgumentError, match=r"listen: heard is .*; it is a function of one event"):
        desktop.listen(lambda: None)


def test_help_shows_what_a_widget_takes():
    assert list(inspect.signature(ui.Label).parameters)[:2] == ["text", "size"]
    assert list(inspect.signature(ui.Checkbox).parameters)[:2] == ["text", "checked"]
