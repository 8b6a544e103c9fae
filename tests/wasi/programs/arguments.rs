//! Shows its arguments and its environment, one a line.

fn main() {
    for (at, argument) in std::env::args().skip(1).enumerate() {
        println!("argument {}: {:?}, {} bytes", at + 1, argument, argument.len());
    }
    let mut environment: Vec<_> = std::env::vars().collect();
    environment.sort();
    for (name, value) in environment {
        println!("{name}={value}");
    }
    match std::env::var("GREETING") {
        Ok(greeting) => println!("The greeting is {greeting}."),
        Err(error) => println!("GREETING: {error}"),
    }
}
