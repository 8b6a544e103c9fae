//! Keeps the books of a small shop with Rust's standard library: makes orders from the seed, writes them as text,
//! parses the text again, and reports on it with maps, sets, heaps, sorting, iterators, trait objects and formatting.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::fmt::Write;
use std::rc::Rc;
use std::str::FromStr;

struct Numbers(u32);

impl Numbers {
    fn new(seed: u32) -> Self {
        Numbers(seed.wrapping_mul(2654435761).wrapping_add(12345))
    }

    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1664525).wrapping_add(1013904223);
        let mixed = (self.0 ^ (self.0 >> 15)).wrapping_mul(0x2c1b3c6d);
        mixed ^ (mixed >> 13)
    }

    fn below(&mut self, limit: u32) -> u32 {
        ((self.next() as u64 * limit as u64) >> 32) as u32
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u32) as usize]
    }
}

fn fold(sum: u64, value: u64) -> u64 {
    let sum = (sum ^ value).wrapping_mul(0x9e3779b97f4a7c15);
    sum ^ (sum >> 29)
}

fn fold_text(sum: u64, text: &str) -> u64 {
    text.bytes().fold(sum, |sum, byte| fold(sum, byte as u64))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    Sale,
    Refund,
    Transfer,
    Note,
}

impl fmt::Display for Kind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.pad(match self {
            Kind::Sale => "sale",
            Kind::Refund => "refund",
            Kind::Transfer => "transfer",
            Kind::Note => "note",
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
enum ParseError {
    TooFewFields(usize),
    BadNumber { field: String, reason: String },
    UnknownKind(String),
}

impl fmt::Display for ParseError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::TooFewFields(count) => write!(to, "only {} fields", count),
            ParseError::BadNumber { field, reason } => write!(to, "{:?} is no number: {}", field, reason),
            ParseError::UnknownKind(word) => write!(to, "no kind is called {:?}", word),
        }
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Kind {
    type Err = ParseError;

    fn from_str(word: &str) -> Result<Self, ParseError> {
        match word.to_ascii_lowercase().as_str() {
            "sale" => Ok(Kind::Sale),
            "refund" => Ok(Kind::Refund),
            "transfer" => Ok(Kind::Transfer),
            "note" => Ok(Kind::Note),
            _ => Err(ParseError::UnknownKind(word.to_string())),
        }
    }
}

#[derive(Debug, Clone)]
struct Entry {
    number: u32,
    kind: Kind,
    who: String,
    item: String,
    cents: u64,
    tags: Vec<String>,
}

fn number<T: FromStr>(field: &str) -> Result<T, ParseError>
where
    T::Err: fmt::Display,
{
    let failed = |error: T::Err| ParseError::BadNumber { field: field.to_string(), reason: error.to_string() };
    field.trim().parse().map_err(failed)
}

/// The cents of an amount such as 12.05 or 12.
fn parse_cents(field: &str) -> Result<u64, ParseError> {
    match field.split_once('.') {
        Some((whole, part)) => Ok(number::<u64>(whole)? * 100 + number::<u64>(part)?),
        None => Ok(number::<u64>(field)? * 100),
    }
}

impl FromStr for Entry {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, ParseError> {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        if fields.len() < 6 {
            return Err(ParseError::TooFewFields(fields.len()));
        }
        Ok(Entry {
            number: number(fields[0])?,
            kind: fields[1].parse()?,
            who: fields[2].to_string(),
            item: fields[3].replace('_', " "),
            cents: parse_cents(fields[4])?,
            tags: fields[5].split(',').filter(|tag| !tag.is_empty()).map(String::from).collect(),
        })
    }
}

const PEOPLE: [&str; 8] = ["Ada", "Björn", "Chloé", "Dörte", "Emil", "Fatıma", "Grace", "Ωmega"];
const ITEMS: [&str; 7] = ["blue_tea", "bread", "candle", "long_rope", "map", "nails", "soap"];
const TAGS: [&str; 6] = ["late", "gift", "Export", "cash", "2nd", "ok"];

fn write_line(numbers: &mut Numbers, index: u32, to: &mut String) -> fmt::Result {
    let kind = *numbers.pick(&[Kind::Sale, Kind::Sale, Kind::Sale, Kind::Refund, Kind::Transfer, Kind::Note]);
    let cents = numbers.below(500_000);
    write!(to, "{:05} | {:<9}| {:^9} | {} | ", index, kind, numbers.pick(&PEOPLE), numbers.pick(&ITEMS))?;
    match numbers.below(40) {
        0 => write!(to, "{:#x} | ", numbers.below(99))?,
        1..=9 => write!(to, "{} | ", cents / 100)?,
        _ => write!(to, "{}.{:02} | ", cents / 100, cents % 100)?,
    }
    for _ in 0..numbers.below(4) {
        write!(to, "{},", numbers.pick(&TAGS))?;
    }
    to.push('\n');
    if numbers.below(50) == 0 {
        to.push_str("-- cut | off\n");
    }
    Ok(())
}

/// A part of the report. Trait objects, so that the calls are indirect.
trait Section {
    fn title(&self) -> String;
    fn take(&mut self, entry: &Entry);
    fn write(&self, to: &mut String) -> fmt::Result;
}

#[derive(Default)]
struct Totals {
    by_person: HashMap<String, (u32, i64)>,
}

impl Section for Totals {
    fn title(&self) -> String {
        format!("Totals of {} people", self.by_person.len())
    }

    fn take(&mut self, entry: &Entry) {
        let sign = match entry.kind {
            Kind::Sale => 1,
            Kind::Refund => -1,
            _ => return,
        };
        let total = self.by_person.entry(entry.who.clone()).or_insert((0, 0));
        total.0 += 1;
        total.1 += sign * entry.cents as i64;
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        let mut rows: Vec<_> = self.by_person.iter().collect();
        rows.sort_by_key(|(who, (_, total))| (Reverse(*total), who.as_str()));
        for (who, (count, total)) in rows {
            let average = total / *count as i64;
            writeln!(to, "{:>8} {:>4} {:>+10} {:>+8}", who.to_ascii_uppercase(), count, total, average)?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Tags {
    places: BTreeMap<String, BTreeSet<u32>>,
}

impl Section for Tags {
    fn title(&self) -> String {
        self.places.keys().map(String::as_str).collect::<Vec<_>>().join("/")
    }

    fn take(&mut self, entry: &Entry) {
        for tag in &entry.tags {
            self.places.entry(tag.to_ascii_lowercase()).or_default().insert(entry.number);
        }
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        for (tag, places) in &self.places {
            let middle: Vec<u32> = places.range(10..60).copied().collect();
            writeln!(to, "{:?}: {} in all, {:?}", tag, places.len(), &middle[..middle.len().min(5)])?;
        }
        Ok(())
    }
}

struct Largest {
    kept: BinaryHeap<Reverse<(u64, u32)>>,
    recent: VecDeque<Rc<RefCell<Entry>>>,
}

impl Section for Largest {
    fn title(&self) -> String {
        String::from("Largest and latest")
    }

    fn take(&mut self, entry: &Entry) {
        self.kept.push(Reverse((entry.cents, entry.number)));
        if self.kept.len() > 10 {
            self.kept.pop();
        }
        self.recent.push_back(Rc::new(RefCell::new(entry.clone())));
        if self.recent.len() > 4 {
            let oldest = self.recent.pop_front().unwrap();
            if let Some(next) = self.recent.front() {
                next.borrow_mut().tags.append(&mut oldest.borrow_mut().tags);
            }
        }
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        for Reverse((cents, number)) in self.kept.clone().into_sorted_vec() {
            write!(to, "{}.{:02}#{} ", cents / 100, cents % 100, number)?;
        }
        for entry in &self.recent {
            let mut entry = entry.borrow().clone();
            entry.tags.sort_unstable();
            entry.tags.dedup();
            writeln!(to, "\n{:#?}", entry)?;
        }
        Ok(())
    }
}

fn round(numbers: &mut Numbers, lines: u32, sum: u64) -> Result<u64, Box<dyn std::error::Error>> {
    let mut text = String::new();
    for index in 0..lines {
        write_line(numbers, index, &mut text)?;
    }
    let mut sections: Vec<Box<dyn Section>> = vec![
        Box::new(Totals::default()),
        Box::new(Tags::default()),
        Box::new(Largest { kept: BinaryHeap::new(), recent: VecDeque::new() }),
    ];
    let mut mistakes: Vec<(usize, ParseError)> = Vec::new();
    let mut entries: Vec<Entry> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match line.parse::<Entry>() {
            Ok(entry) => entries.push(entry),
            Err(mistake) => mistakes.push((index + 1, mistake)),
        }
    }
    entries.sort_by(|a, b| a.item.cmp(&b.item).then(b.cents.cmp(&a.cents)).then(a.number.cmp(&b.number)));
    for entry in &entries {
        sections.iter_mut().for_each(|section| section.take(entry));
    }
    let mut report = String::with_capacity(1024);
    for section in &sections {
        let title = section.title();
        writeln!(report, "{}\n{}", title, "=".repeat(title.chars().count()))?;
        section.write(&mut report)?;
    }
    for (line, mistake) in &mistakes {
        writeln!(report, "line {:>3}: {}", line, mistake)?;
    }
    let words: HashSet<&str> = report.split_whitespace().collect();
    let backwards: String = report.chars().rev().filter(|c| !c.is_ascii_punctuation()).take(200).collect();
    let product: u128 = entries.iter().take(12).fold(1, |product, entry| product * (entry.number as u128 + 1));
    writeln!(report, "{} words, {}, {}", words.len(), backwards, product)?;
    Ok(fold_text(sum, &report))
}

thread_local! {
    static SEED: Cell<u32> = Cell::new(1);
}

#[no_mangle]
pub extern "C" fn seed(value: i32) {
    SEED.with(|seed| seed.set(value as u32));
}

/// Does `rounds` rounds and returns a checksum of their reports; -1 if one of them fails.
#[no_mangle]
pub extern "C" fn run(rounds: i32) -> i64 {
    let mut numbers = Numbers::new(SEED.with(Cell::get));
    let mut sum = 0;
    for _ in 0..rounds {
        sum = match round(&mut numbers, 64, sum) {
            Ok(sum) => sum,
            Err(_) => return -1,
        };
    }
    sum as i64
}
