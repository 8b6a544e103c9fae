//! Trait objects, closures and iterators: calls whose target is known at run time only.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::f64::consts::PI;
use std::ops::Add;

trait Shape: Any {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        "shape".to_string()
    }
    fn as_any(&self) -> &dyn Any;
}

struct Circle(f64);
struct Rectangle(f64, f64);

impl Shape for Circle {
    fn area(&self) -> f64 {
        PI * self.0 * self.0
    }
    fn name(&self) -> String {
        format!("circle of {}", self.0)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Shape for Rectangle {
    fn area(&self) -> f64 {
        self.0 * self.1
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Rectangle {
    fn drop(&mut self) {
        println!("dropped {} by {}", self.0, self.1);
    }
}

fn adder<T: Add<Output = T> + Copy + 'static>(by: T) -> Box<dyn Fn(T) -> T> {
    Box::new(move |value| value + by)
}

fn counter() -> impl FnMut() -> u32 {
    let mut count = 0;
    move || {
        count += 1;
        count
    }
}

fn main() {
    let shapes: Vec<Box<dyn Shape>> = vec![
        Box::new(Circle(1.5)),
        Box::new(Rectangle(2.0, 3.5)),
        Box::new(Circle(0.25)),
        Box::new(Rectangle(1.0, 1.0)),
    ];
    for shape in &shapes {
        println!("{}: {:.4} {}", shape.name(), shape.area(), shape.as_any().is::<Circle>());
    }
    println!("{:.6} in all", shapes.iter().map(|shape| shape.area()).sum::<f64>());

    let steps: Vec<(&str, Box<dyn Fn(i64) -> i64>)> =
        vec![("add", adder(5)), ("double", Box::new(|v| v * 2)), ("square", Box::new(|v| v * v)), ("sub", adder(-7))];
    let mut value = 3;
    for (name, step) in steps.iter().cycle().take(6) {
        value = step(value);
        println!("{name}: {value}");
    }
    let (mut one, mut other) = (counter(), counter());
    println!("{} {} {} {}", one(), one(), other(), one());
    println!("{}", adder(0.5f32)(0.25));

    let chars: BTreeMap<char, usize> = "mississippi".chars().fold(BTreeMap::new(), |mut map, c| {
        *map.entry(c).or_default() += 1;
        map
    });
    println!("{chars:?}");
    let mut heap: BinaryHeap<u32> = [5, 1, 8, 3, 9, 2].into_iter().collect();
    let ordered: Vec<u32> = std::iter::from_fn(|| heap.pop()).collect();
    let queue: VecDeque<u32> = ordered.iter().zip([1, 2, 3, 4, 5, 6]).map(|(a, b)| a * b).rev().collect();
    let set: BTreeSet<u32> = ordered.windows(2).map(|pair| pair[0] - pair[1]).collect();
    println!("{ordered:?} {queue:?} {set:?}");
}
