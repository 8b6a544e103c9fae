//! Writes a MiB in lines of 64 bytes, through a buffer or line by line.

use std::io::{self, BufWriter, Write};

fn flood(mut out: impl Write) -> io::Result<()> {
    let mut state = 1u32;
    for line in 0..16384 {
        write!(out, "{line:08} ")?;
        let mut text = [b'\n'; 55];
        for byte in &mut text[..54] {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            *byte = b'a' + (state >> 24) as u8 % 26;
        }
        out.write_all(&text)?;
    }
    out.flush()
}

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("lines") => flood(io::stdout().lock()),
        Some("error") => flood(BufWriter::new(io::stderr())),
        _ => flood(BufWriter::with_capacity(100_000, io::stdout())),
    }
}
