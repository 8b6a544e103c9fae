//! Writes to both standard streams in turn.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    for number in 0..8 {
        println!("out {number}");
        eprintln!("err {number}");
        eprint!("{number},");
        print!("{number};");
    }
    io::stdout().write_all(b"bytes that are no text: \xff\xfe\x00\n")?;
    io::stderr().write_all(b"\x80 here, too\n")?;
    eprintln!("{:?}", io::stdout().flush());
    print!("the last line has no end");
    Ok(())
}
