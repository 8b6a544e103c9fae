"""What people read, press and type in, in windows. See it by: lanewise desktop examples/desktop_gallery.py"""

from lanewise.desktop import ui
from lanewise.desktop.gallery import windows

if __name__ == "__main__":
    desktop = ui.Desktop(*windows())
    desktop.settle()
    drawn = int(desktop.last.state["primitives"])
    print(f"{len(desktop.nodes)} widgets draw {drawn} shapes and texts on {desktop.device!r}")
