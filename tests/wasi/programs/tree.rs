//! Makes a tree of files below the folder that is given, changes it, shows it, and removes a part of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

fn show(folder: &Path, depth: usize) -> io::Result<u64> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(|entry| entry.file_name());
    let mut total = 0;
    for entry in entries {
        let metadata = entry.metadata()?;
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type()?.is_dir() {
            println!("{:depth$}{name}/", "");
            total += show(&entry.path(), depth + 2)?;
        } else {
            println!("{:depth$}{name} {}", "", metadata.len());
            total += metadata.len();
        }
    }
    Ok(total)
}

fn main() -> io::Result<()> {
    let root = std::env::args().nth(1).expect("a folder");
    let root = Path::new(&root);
    fs::create_dir_all(root.join("deep/deeper/deepest"))?;
    fs::create_dir(root.join("many"))?;
    for number in 0..40 {
        fs::write(root.join(format!("many/a file with a longer name, number {number:02}")), "x".repeat(number))?;
    }
    fs::write(root.join("deep/first"), "one\n")?;
    let mut appended = OpenOptions::new().append(true).open(root.join("deep/first"))?;
    appended.write_all(b"two\n")?;
    drop(appended);
    fs::rename(root.join("deep/first"), root.join("deep/deeper/second"))?;
    fs::copy(root.join("deep/deeper/second"), root.join("third"))?;
    let mut third = File::options().read(true).write(true).open(root.join("third"))?;
    third.seek(SeekFrom::End(-4))?;
    third.write_all(b"TWO")?;
    third.rewind()?;
    let mut text = String::new();
    third.read_to_string(&mut text)?;
    println!("third: {text:?}, at {}", third.stream_position()?);
    third.set_len(2)?;
    println!("{} bytes in all", show(root, 0)?);

    for number in 3..40 {
        fs::remove_file(root.join(format!("many/a file with a longer name, number {number:02}")))?;
    }
    let kept = fs::remove_dir(root.join("many")).unwrap_err();
    println!("a folder with files in it: {kept}");
    println!("again: {}", fs::create_dir(root.join("deep")).unwrap_err());
    println!("absent: {:?}", fs::metadata(root.join("absent")).unwrap_err().kind());
    println!(
        "new only: {:?}",
        OpenOptions::new().write(true).create_new(true).open(root.join("third")).unwrap_err().kind()
    );
    fs::remove_dir_all(root.join("deep/deeper/deepest"))?;
    println!("{} bytes are left", show(root, 0)?);
    let metadata = fs::metadata(root.join("third"))?;
    println!("{} {} {}", metadata.is_file(), metadata.len(), metadata.modified()?.elapsed().is_ok());
    Ok(())
}
