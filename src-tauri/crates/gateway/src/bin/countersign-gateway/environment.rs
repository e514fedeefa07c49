//! Reads variables from a file into the environment of this process.

use std::path::Path;

use terminal::exit::Failure;

/// Reads lines of the form NAME=VALUE. Variables that are already set keep their values.
pub(crate) fn read_file(file: &Path) -> Result<(), Failure> {
    let text = files::read_text(file, files::BY_HAND).map_err(|error| {
        Failure::usage_error(format!("{} cannot be read: {error}.", file.display()))
    })?;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            return Err(Failure::usage_error(format!(
                "Line {} of {} is not NAME=VALUE.",
                number + 1,
                file.display()
            )));
        };
        let (name, bare) = (name.trim(), strip_quotes_and_comment(value));
        if !name.is_empty() && std::env::var_os(name).is_none() {
            // SAFETY: no other thread exists yet, because threads start with the runtime, after
            // this call.
            unsafe { std::env::set_var(name, bare) };
        }
    }
    Ok(())
}

/// Returns a value without its quotes and without the comment after it.
fn strip_quotes_and_comment(value: &str) -> &str {
    let without_comment =
        |value: &'_ str| value.find(" #").into_iter().chain(value.find("\t#")).min();
    let unquoted = without_comment(value).map_or(value, |at| &value[..at]).trim();
    let value = value.trim();
    let Some(quote) = value.chars().next().filter(|first| matches!(first, '"' | '\'')) else {
        return unquoted;
    };
    let whole = |text: &'_ str| text.len() > 1 && text.ends_with(quote);
    match value[1..].split_once(quote) {
        Some((inner, rest))
            if rest.is_empty()
                || rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('#') =>
        {
            inner
        }
        Some(_) if whole(value) => &value[1..value.len() - 1],
        Some(_) | None => unquoted,
    }
}
