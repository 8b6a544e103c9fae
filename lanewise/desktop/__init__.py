"""The desktop: a screen of widgets whose input, layout and pixels are the work of one group of 1,024 threads."""
