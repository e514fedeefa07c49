//! Compiles each folder of `messages` at the root into a table, so that the app reads no files for
//! its texts. Each folder is a language.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fmt::{self, Write as _},
    fs,
    path::{Path, PathBuf},
};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};

/// The language that replaces a missing text of another language.
const FALLBACK: &str = "en";
/// The name of the file that describes a language: its name and its formats.
const ABOUT: &str = "language";
/// The area of the sentences that the host writes in English. Each English sentence is its own key.
const HOST: &str = "host";

/// The content of `language.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    name: String,
    #[serde(default)]
    draft: bool,
    culture: Option<String>,
    decimal: String,
    group: String,
    percent: String,
    months: [String; 12],
    day: String,
    day_and_year: String,
}

/// A text, or separate forms for the number one and for any other number.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Message {
    Text(String),
    Forms { one: String, other: String },
}

/// The texts of a file, by key.
struct Messages(BTreeMap<String, Message>);

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MessagesVisitor)
    }
}

/// Reads the texts of a file one by one, because a map would silently keep only the last of two
/// texts with the same key.
struct MessagesVisitor;

impl<'de> Visitor<'de> for MessagesVisitor {
    type Value = Messages;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("texts by key")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Messages, A::Error> {
        let mut messages = BTreeMap::new();
        while let Some((key, message)) = entries.next_entry::<String, Message>()? {
            if let Some(key) = messages.insert(key.clone(), message).map(|_| key) {
                return Err(A::Error::custom(format!("`{key}` is there twice")));
            }
        }
        Ok(Messages(messages))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../../messages");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut languages = fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(format!("{ABOUT}.json")).is_file())
        .collect::<Vec<_>>();
    // The fallback comes first, because `Language::ENGLISH` is the first row.
    languages.sort_by_key(|path| (!path.ends_with(FALLBACK), path.clone()));
    let mut code = String::from("pub(crate) static LANGUAGES: &[Catalogue] = &[\n");
    for language in &languages {
        write_language(&mut code, language)?;
    }
    code.push_str("];\n");
    // The sentences get a separate table, so that programs that do not translate the host do not
    // contain them.
    code.push_str("static SENTENCES: &[&[(&str, Forms)]] = &[\n");
    for language in &languages {
        let file = language.join(format!("{HOST}.json"));
        let Messages(sentences) =
            if file.is_file() { read(&file)? } else { Messages(BTreeMap::new()) };
        write_texts(&mut code, &sentences)?;
        code.push_str(",\n");
    }
    code.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("languages.rs"), code)?;
    Ok(())
}

fn write_language(code: &mut String, folder: &Path) -> Result<(), Box<dyn Error>> {
    let tag = folder.file_name().unwrap_or_default().to_string_lossy();
    let about: About = read(&folder.join(format!("{ABOUT}.json")))?;
    let About { name, draft, culture, decimal, group, percent, months, .. } = &about;
    let About { day, day_and_year, .. } = &about;
    writeln!(
        code,
        "Catalogue {{ tag: {tag:?}, name: {name:?}, is_draft: {draft}, culture: {culture:?}, formats: Formats {{ \
         decimal: {decimal:?}, group: {group:?}, percent: {percent:?}, months: {months:?}, \
         day: {day:?}, day_and_year: {day_and_year:?} }}, areas: &["
    )?;
    let mut files = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect::<Vec<_>>();
    files.sort();
    for file in files {
        let area = file.file_stem().unwrap_or_default().to_string_lossy();
        if area != ABOUT && area != HOST {
            let Messages(messages) = read(&file)?;
            write!(code, "({area:?}, ")?;
            write_texts(code, &messages)?;
            code.push_str("),\n");
        }
    }
    code.push_str("] },\n");
    Ok(())
}

/// Writes the texts of a file, sorted by key for a binary search.
fn write_texts(
    code: &mut String,
    messages: &BTreeMap<String, Message>,
) -> Result<(), Box<dyn Error>> {
    code.push_str("&[\n");
    for (key, message) in messages {
        let (one, other) = match message {
            Message::Text(text) => (text, text),
            Message::Forms { one, other } => (one, other),
        };
        writeln!(code, "({key:?}, Forms {{ one: {one:?}, other: {other:?} }}),")?;
    }
    code.push(']');
    Ok(())
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()).into())
}
