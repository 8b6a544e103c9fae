//! Writes values of many types in many ways, and reads integers.

use std::fmt;

#[derive(Debug, Clone, Default, PartialEq)]
struct Point {
    x: f64,
    y: f64,
    name: Option<String>,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision().unwrap_or(2);
        write!(f, "({:.*}, {:.*})", precision, self.x, precision, self.y)
    }
}

#[derive(Debug)]
#[allow(dead_code)]
enum Shape {
    Unit,
    Pair(i8, &'static str),
    Named { points: Vec<Point> },
}

fn main() {
    println!("{} {} {} {}", i8::MIN, u64::MAX, i128::MIN, u128::MAX);
    println!("{:#x} {:#010b} {:o} {:X} {:+} {:08.3} {:e}", 255, 5, 64, 0xBEEFu16, 7, -3.14159, 12345);
    println!("[{:<6}] [{:>6}] [{:^6}] [{:*^9}] [{:>5$}]", "ab", "cd", "ef", "mid", "wide", 8);
    for value in [0.0, -0.0, 0.1, 1.0 / 3.0, 1e21, 1e-7, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        println!("{value} {value:?} {value:.3} {:?}", value as f32);
    }
    for value in [0.5f32, 1.5, 2.5, 16777217.0, 1.1754944e-38, 3.4028235e38] {
        println!("{value} {value:.0} {:?} {} {}", value.sqrt(), value.round(), value as i32);
    }
    let point = Point { x: 1.005, y: -2.5, name: Some("späť \u{1F600}\t\"".into()) };
    println!("{point} {point:.0} {point:?}");
    println!("{:#?}", Shape::Named { points: vec![point.clone(), Point::default()] });
    println!("{:?} {:?} {}", Shape::Unit, Shape::Pair(-1, "p"), point == Point::default());
    println!("{:?} {:?} {:?}", 'ß', "line\n\u{7f}\0", b"bytes\xff");
    println!("{:?} {:?}", (1, 2.0, "three", [4; 3]), Some(Ok::<_, ()>(Box::new(5))));
    for text in ["42", "-129", "0x10", "", "+7", "1_000", "true", "\u{661}"] {
        println!("{text:?}: {:?} {:?} {:?}", text.parse::<i8>(), text.parse::<u64>().ok(), text.parse::<bool>().ok());
    }
    println!("{:?} {:?} {:?}", 300i32 as u8, -1.5f64 as u32, f64::NAN as i64);
    println!("{:?} {:?} {:?}", 200u8.checked_add(56), i32::MIN.overflowing_neg(), 250u8.saturating_add(9));
}
