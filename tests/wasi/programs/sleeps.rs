//! Sleeps for 20 ms and tells whether clocks agree. The last line depends on the time.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn main() {
    let start = Instant::now();
    let wall = SystemTime::now();
    thread::sleep(Duration::from_millis(20));
    thread::sleep(Duration::ZERO);
    thread::yield_now();
    let slept = start.elapsed();
    println!("slept at least 20 ms: {}", slept >= Duration::from_millis(20));
    println!("less than 10 s: {}", slept < Duration::from_secs(10));
    println!("time goes on: {}", Instant::now() >= start);
    println!("so does the wall clock: {}", wall.elapsed().unwrap() >= Duration::from_millis(15));
    println!("after 2022: {}", wall.duration_since(UNIX_EPOCH).unwrap().as_secs() > 1_640_995_200);
    let mut last = Instant::now();
    let steady = (0..1000).all(|_| {
        let now = Instant::now();
        std::mem::replace(&mut last, now) <= now
    });
    println!("never back: {steady}");
    println!("slept {} us", slept.as_micros());
}
