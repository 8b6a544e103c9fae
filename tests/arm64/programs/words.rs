// Counts words, reads a file, and panics where it is asked for too much: the parts of Rust's library that programs use.
use std::collections::HashMap;
use std::io::{self, BufRead};

fn main() {
    let asked = std::env::args().nth(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(5);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for line in io::stdin().lock().lines() {
        for word in line.unwrap().split_whitespace() {
            *counts.entry(word.to_string()).or_insert(0) += 1;
        }
    }
    let mut found: Vec<_> = counts.into_iter().collect();
    found.sort();
    println!("{} {:?} {:.6} {:?}", asked, found, (asked as f64).sqrt(), std::env::var("WHO"));
    match std::fs::read_to_string("given.txt") {
        Ok(text) => print!("{}", text),
        Err(error) => println!("{}", error),
    }
    println!("{}", (0..asked).map(|number| number * number % 97).sum::<u64>());
    assert!(asked < 40, "too many: {}", asked);
    std::process::exit((asked % 7) as i32);
}
