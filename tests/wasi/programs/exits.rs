//! Ends with the exit code that is given, in the middle of things.

use std::io::Write;

struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        println!("dropped, which exit does not do");
    }
}

fn deep(levels: u32, code: i32) -> u32 {
    let _last = Last;
    if levels == 0 {
        std::process::exit(code);
    }
    deep(levels - 1, code) + 1
}

fn main() {
    let code = std::env::args().nth(1).map_or(0, |code| code.parse().unwrap());
    print!("leaving with {code}");
    std::io::stdout().flush().unwrap();
    print!(", this part unflushed");
    println!("{}", deep(5, code));
}
