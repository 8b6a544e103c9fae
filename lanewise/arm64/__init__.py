"""AArch64 machine code on lanes: one table of encodings, from which decoder and interpreter come."""
