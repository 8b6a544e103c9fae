"""Floating point as the architecture has it, in whole numbers alone: all rounding modes and all flags.

It is device code, so that each device does the same to the last bit. Rows of the table call it where the device's own
arithmetic would not do.
"""
