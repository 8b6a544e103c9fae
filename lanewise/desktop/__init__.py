"""The desktop: a screen of widgets that lives on the device, drawn by one group of threads."""
