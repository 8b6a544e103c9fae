"""Whole programs on many lanes: what to run, how it went, and the engines that run it."""
