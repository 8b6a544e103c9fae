"""Where people see a desktop: in a window, in a notebook, in the browser."""
