//! A filter: numbers the lines of standard input, turns each around and tells how many there were.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut lines, mut longest) = (0, 0);
    for line in io::stdin().lock().lines() {
        let line = line?;
        lines += 1;
        longest = longest.max(line.chars().count());
        let turned: String = line.chars().rev().flat_map(char::to_uppercase).collect();
        writeln!(out, "{lines:5} {turned}")?;
    }
    writeln!(out, "{lines} lines, the longest of {longest} characters")?;
    out.flush()
}
