//! Counts the words of a file: `words FILE [MOST]` shows the most frequent ones.

use std::collections::HashMap;
use std::{env, fs, process};

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let path = arguments.get(1).unwrap_or_else(|| {
        eprintln!("usage: words FILE [MOST]");
        process::exit(2);
    });
    let text = fs::read_to_string(path).unwrap_or_else(|error| {
        eprintln!("{path}: {error}");
        process::exit(1);
    });
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *counts.entry(word.to_ascii_lowercase()).or_default() += 1;
    }
    let mut sorted: Vec<(&String, &usize)> = counts.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let most = arguments.get(2).map_or(10, |most| most.parse().expect("MOST is a number"));
    for (word, count) in sorted.iter().take(most) {
        println!("{count:6} {word}");
    }
    let longest = counts.keys().map(|word| word.chars().count()).max();
    println!("{} different words, {} characters at most", counts.len(), longest.unwrap_or(0));
}
