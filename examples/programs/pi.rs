//! Pi by throwing darts: `pi SEED [DARTS]`. The same seed throws the same darts.

struct Numbers(u64);

impl Numbers {
    /// The next one of xorshift64*, between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn number(text: Option<String>, usual: Option<u64>) -> u64 {
    let given = text.map(|text| text.parse().ok()).unwrap_or(usual);
    given.unwrap_or_else(|| {
        eprintln!("usage: pi SEED [DARTS], both whole numbers");
        std::process::exit(2)
    })
}

fn main() {
    let mut words = std::env::args().skip(1);
    let seed = number(words.next(), None);
    let darts = number(words.next(), Some(10_000));
    let mut numbers = Numbers(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut is_hit = |_: &u64| {
        let (x, y) = (numbers.next(), numbers.next());
        x * x + y * y < 1.0
    };
    let hits = (0..darts).filter(&mut is_hit).count();
    println!("{:.4}", 4.0 * hits as f64 / darts as f64);
}
