//! The command line of the desktop app. Must not know how the values are used.

use std::{ffi::OsString, path::PathBuf};

/// The arguments of the app.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    /// The data folder. None for the user's own.
    pub data_dir: Option<PathBuf>,
    /// A text to print instead of starting the app.
    pub print: Option<Print>,
}

/// Texts that are printed instead of starting the app.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Print {
    Help,
    Version,
}

/// The text of `--help`.
pub(crate) const HELP: &str =
    "Countersign: an assistant for analysts that acts only with your signature.

Usage: countersign [--data-dir DIR]

  --data-dir DIR   Keep everything in this folder (also COUNTERSIGN_DATA_DIR)
  --version        Print the version
  --help           Print this text

In a terminal use csign, for example: csign ask \"How is account 17 pacing?\"";

/// Parses the arguments after the program's name. `data_dir` is the value of the environment
/// variable.
pub(crate) fn read_args(
    arguments: impl IntoIterator<Item = OsString>,
    data_dir: Option<OsString>,
) -> Result<Args, String> {
    let mut args = Args {
        data_dir: data_dir.filter(|value| !value.is_empty()).map(PathBuf::from),
        print: None,
    };
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy().into_owned();
        match text.as_str() {
            "--data-dir" => match arguments.next().filter(|value| !value.is_empty()) {
                Some(folder) => args.data_dir = Some(PathBuf::from(folder)),
                None => return Err("--data-dir needs a folder.".to_owned()),
            },
            "--help" | "-h" => args.print = Some(Print::Help),
            "--version" | "-V" => args.print = Some(Print::Version),
            other => match other.strip_prefix("--data-dir=") {
                Some(folder) if !folder.is_empty() => args.data_dir = Some(PathBuf::from(folder)),
                Some(_) | None => {
                    return Err(format!("There is no option {other}. See countersign --help."));
                }
            },
        }
    }
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> Result<Args, String> {
        read_args(arguments.iter().map(OsString::from), None)
    }

    #[test]
    fn the_data_dir_flag_overrides_the_variable() {
        let args = read_args(["--data-dir", "/a"].map(OsString::from), Some("/b".into())).unwrap();
        assert_eq!(args.data_dir, Some(PathBuf::from("/a")));
        assert_eq!(read_args([], Some("/b".into())).unwrap().data_dir, Some(PathBuf::from("/b")));
    }

    #[test]
    fn both_spellings_of_a_flag_are_read_and_unknown_flags_are_refused() {
        assert_eq!(of(&["--data-dir=/x"]).unwrap().data_dir, Some(PathBuf::from("/x")));
        assert_eq!(of(&["--version"]).unwrap().print, Some(Print::Version));
        assert!(of(&["--data-dir"]).unwrap_err().contains("needs a folder"));
        assert!(of(&["--datadir"]).unwrap_err().contains("--datadir"));
    }
}
