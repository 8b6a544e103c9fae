//! Parses JSON files and tells what is in them: `json FILE...`, or standard input for `-`.

use std::fmt;
use std::io::Read;
use std::{env, fs, io, process};

enum Value {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

struct Error {
    line: usize,
    column: usize,
    what: &'static str,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

type Parsed<T> = Result<T, Error>;

const DEEPEST: usize = 128;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn document(text: &'a str) -> Parsed<Value> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let value = parser.value()?;
        match parser.next() {
            None => Ok(value),
            Some(_) => parser.fail("more after the value"),
        }
    }

    fn fail<T>(&self, what: &'static str) -> Parsed<T> {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Err(Error { line, column: self.at - start + 1, what })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space, which is skipped.
    fn next(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.peek()
    }

    fn value(&mut self) -> Parsed<Value> {
        match self.next() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(_) => self.fail("a value was expected"),
            None => self.fail("a value was expected, but the text ends"),
        }
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Parsed<Value>) -> Parsed<Value> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("nested too deep");
        }
        self.at += 1;
        let value = parse(self);
        self.depth -= 1;
        value
    }

    fn word(&mut self, word: &'static str, value: Value) -> Parsed<Value> {
        if !self.text[self.at..].starts_with(word) {
            return self.fail("a value was expected");
        }
        self.at += word.len();
        Ok(value)
    }

    fn object(&mut self) -> Parsed<Value> {
        let mut members = Vec::new();
        if self.next() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            if self.next() != Some(b'"') {
                return self.fail("a name was expected");
            }
            let name = self.string()?;
            if self.next() != Some(b':') {
                return self.fail("a colon was expected");
            }
            self.at += 1;
            let value = self.value()?;
            members.push((name, value));
            match self.next() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.fail("a comma or } was expected"),
            }
        }
        self.at += 1;
        Ok(Value::Object(members))
    }

    fn array(&mut self) -> Parsed<Value> {
        let mut items = Vec::new();
        if self.next() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            match self.next() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.fail("a comma or ] was expected"),
            }
        }
        self.at += 1;
        Ok(Value::Array(items))
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let start = self.at;
            while matches!(self.peek(), Some(byte) if byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            string.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => string.push(self.escape()?),
                Some(_) => return self.fail("a control character in a string"),
                None => return self.fail("a string without an end"),
            }
        }
        self.at += 1;
        Ok(string)
    }

    fn escape(&mut self) -> Parsed<char> {
        self.at += 1;
        let escaped = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return self.fail("an escape that there is not"),
        };
        self.at += 1;
        Ok(escaped)
    }

    fn unicode(&mut self) -> Parsed<char> {
        let first = self.hexadecimal()?;
        let code = match first {
            0xD800..=0xDBFF if self.text[self.at..].starts_with("\\u") => {
                self.at += 1;
                match self.hexadecimal()? {
                    second @ 0xDC00..=0xDFFF => 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00),
                    _ => return self.fail("half of a character"),
                }
            }
            _ => first,
        };
        char::from_u32(code).map_or_else(|| self.fail("half of a character"), Ok)
    }

    /// The four digits behind a `u`.
    fn hexadecimal(&mut self) -> Parsed<u32> {
        let mut code = 0;
        for _ in 0..4 {
            self.at += 1;
            match self.peek().and_then(|byte| (byte as char).to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => return self.fail("a hexadecimal digit was expected"),
            }
        }
        self.at += 1;
        Ok(code)
    }

    fn digits(&mut self) -> Parsed<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return self.fail("a digit was expected");
        }
        Ok(())
    }

    fn number(&mut self) -> Parsed<Value> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Value::Number(self.text[start..self.at].parse().unwrap()))
    }
}

#[derive(Default)]
struct Summary {
    objects: usize,
    members: usize,
    arrays: usize,
    strings: usize,
    characters: usize,
    numbers: usize,
    sum: f64,
    yes: usize,
    no: usize,
    nulls: usize,
    depth: usize,
}

impl Summary {
    fn add(&mut self, value: &Value, depth: usize) {
        self.depth = self.depth.max(depth);
        match value {
            Value::Null => self.nulls += 1,
            Value::Bool(true) => self.yes += 1,
            Value::Bool(false) => self.no += 1,
            Value::Number(number) => {
                self.numbers += 1;
                self.sum += number;
            }
            Value::String(string) => {
                self.strings += 1;
                self.characters += string.chars().count();
            }
            Value::Array(items) => {
                self.arrays += 1;
                items.iter().for_each(|item| self.add(item, depth + 1));
            }
            Value::Object(members) => {
                self.objects += 1;
                self.members += members.len();
                members.iter().for_each(|(_, member)| self.add(member, depth + 1));
            }
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} objects with {} members, {} arrays, ", self.objects, self.members, self.arrays)?;
        write!(f, "{} strings of {} characters, ", self.strings, self.characters)?;
        write!(f, "{} numbers with the sum {} / 1000, ", self.numbers, (self.sum * 1000.0).round() as i64)?;
        write!(f, "{} true, {} false, {} null, {} deep", self.yes, self.no, self.nulls, self.depth)
    }
}

fn read(path: &str) -> io::Result<String> {
    if path != "-" {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn main() {
    let mut failed = false;
    for path in env::args().skip(1) {
        let summary = read(&path).map_err(|error| error.to_string()).and_then(|text| {
            let mut summary = Summary::default();
            summary.add(&Parser::document(&text).map_err(|error| error.to_string())?, 1);
            Ok(summary)
        });
        match summary {
            Ok(summary) => println!("{path}: {summary}"),
            Err(error) => {
                eprintln!("{path}: {error}");
                failed = true;
            }
        }
    }
    process::exit(i32::from(failed));
}
