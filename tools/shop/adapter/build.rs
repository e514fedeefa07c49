//! Lists the words of the pack in each language, so that a new language needs no code.

use std::{env, error::Error, fmt::Write as _, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../messages");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut code = String::from("static FILES: &[(&str, &str)] = &[\n");
    for file in files {
        let tag = file.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(code, "({tag:?}, include_str!({:?})),", file.canonicalize()?)?;
    }
    code.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("words.rs"), code)?;
    Ok(())
}
