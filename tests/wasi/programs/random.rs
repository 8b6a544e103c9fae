//! Random numbers as Rust's maps get them from WASI: each run another, but never two keys alike.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher};

fn hash(state: &RandomState, value: impl Hash) -> u64 {
    let mut hasher = state.build_hasher();
    value.hash(&mut hasher);
    hasher.finish()
}

fn main() {
    let (one, other) = (RandomState::new(), RandomState::new());
    println!("the same state, the same hash: {}", hash(&one, "key") == hash(&one, "key"));
    println!("another state, another hash: {}", hash(&one, "key") != hash(&other, "key"));
    let hashes: HashSet<u64> = (0..1000).map(|value| hash(&one, value)).collect();
    println!("different hashes: {}", hashes.len());
    let ones: u32 = hashes.iter().map(|hash| hash.count_ones()).sum();
    println!("about half of the bits are set: {}", (28_000..36_000).contains(&ones));
    let map: HashMap<u32, u32> = (0..1000).map(|value| (value, value * value)).collect();
    println!("all there: {}", (0..1000).all(|value| map[&value] == value * value));
    println!("{:016x}", hash(&one, 0));
}
