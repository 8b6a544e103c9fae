//! Calls that call themselves: `recursion DEPTH`, or `recursion forever`, which ends in a trap.

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

fn hanoi(discs: u32, from: usize, to: usize, rods: &mut [Vec<u32>; 3]) -> u32 {
    if discs == 0 {
        return 0;
    }
    let spare = 3 - from - to;
    let before = hanoi(discs - 1, from, spare, rods);
    let disc = rods[from].pop().unwrap();
    rods[to].push(disc);
    before + 1 + hanoi(discs - 1, spare, to, rods)
}

/// What comes after the call cannot be moved before it, so that it stays a call.
#[inline(never)]
fn down(depth: u32) -> u32 {
    if depth == 0 {
        return 0;
    }
    down(depth - 1).wrapping_mul(31) ^ depth
}

#[inline(never)]
fn is_even(n: u32) -> bool {
    n == 0 || is_odd(n - 1)
}

#[inline(never)]
fn is_odd(n: u32) -> bool {
    n != 0 && is_even(n - 1)
}

fn main() {
    let argument = std::env::args().nth(1).expect("a depth");
    let depth = if argument == "forever" { u32::MAX } else { argument.parse().unwrap() };
    println!("ackermann(2, 9) = {}", ackermann(2, 9));
    let mut rods = [(1..=8).rev().collect(), vec![], vec![]];
    println!("hanoi: {} moves", hanoi(8, 0, 2, &mut rods));
    println!("{rods:?}");
    println!("odd: {}", is_odd(depth.min(101)));
    println!("down: {:08x}", down(depth));
}
