"""The toolkit: trees of widgets built in Python in a few lines, which then live on the device.

from lanewise.desktop import ui

def save(event):
    print("saved", name.text)

name = ui.Field("Ada")
desktop = ui.Desktop(ui.Window("Hello", ui.Label("Your name"), name, ui.Button("Save", on_click=save)))
"""

from typing import TYPE_CHECKING

from lanewise.desktop.ui.checking import nearest
from lanewise.desktop.ui.containers import Column, Panel, Row, Scroll, Spacer, Tabs, Window
from lanewise.desktop.ui.controls import (
    Button,
    Canvas,
    Checkbox,
    Field,
    Image,
    Label,
    List,
    Menu,
    Progress,
    Radio,
    Slider,
    Switch,
)
from lanewise.desktop.ui.desktop import Desktop, Event
from lanewise.desktop.ui.node import Node

__all__ = [
    "Button",
    "Canvas",
    "Checkbox",
    "Column",
    "Desktop",
    "Event",
    "Field",
    "Image",
    "Label",
    "List",
    "Menu",
    "Node",
    "Panel",
    "Progress",
    "Radio",
    "Row",
    "Scroll",
    "Slider",
    "Spacer",
    "Switch",
    "Tabs",
    "Window",
]

if not TYPE_CHECKING:  # to whom a module with this function has whatever is asked for

    def __getattr__(name: str) -> None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {nearest(name, __all__)}")
