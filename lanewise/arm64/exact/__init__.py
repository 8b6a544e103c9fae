"""Floating point as the architecture has it: all rounding modes and all flags, in whole numbers where need be.

It is device code, so that each device does the same to the last bit. Rows of the table call it where the device's own
arithmetic would not do.
"""
