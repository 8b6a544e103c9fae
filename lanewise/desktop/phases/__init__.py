"""The phases of a frame, one file each, in the order in which the group of threads goes through them."""
