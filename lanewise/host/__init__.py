"""The CPU as a peripheral: what lanes ask the host for, done with the host's own files and clocks."""
