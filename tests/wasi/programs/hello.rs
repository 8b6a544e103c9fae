//! The smallest program that there is with Rust's std.

fn main() {
    println!("Hello, world!");
}
