//! Panics in the way that is asked for, after some output. A message comes first; then the program traps.

struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        println!("dropped, which a panic does not do: it aborts");
    }
}

fn main() {
    let _last = Last;
    let way = std::env::args().nth(1).unwrap_or_default();
    println!("before");
    print!("a line without an end");
    let values: Vec<u32> = way.bytes().map(u32::from).collect();
    match way.as_str() {
        "message" => panic!("what was asked for: {}", values.len()),
        "index" => println!("{}", values[values.len()]),
        "unwrap" => println!("{}", way.parse::<u32>().unwrap()),
        "expect" => println!("{}", values.iter().find(|value| **value == 1).expect("a one")),
        "divide" => println!("{}", 1 / (values.len() - 6)),
        "borrow" => {
            let cell = std::cell::RefCell::new(1);
            let _first = cell.borrow_mut();
            println!("{}", cell.borrow());
        }
        "hook" => {
            std::panic::set_hook(Box::new(|info| eprintln!("the hook saw: {info}")));
            unreachable!("indeed");
        }
        "abort" => std::process::abort(),
        _ => println!(": no such way"),
    }
}
