//! Errors of data processes as a person reads them: with names of files in place of paths of the
//! profile, and with the removal of a source in place of what the removal broke. It must not know
//! what was asked.

use std::path::Path;

use contract::{AgentError, ErrorCode, Reason, SourceName, text};
use serde_json::Value;

/// Returns the error of a question about a source that was removed while the question ran. `error` is
/// how the question ended.
pub(super) fn removed_meanwhile(source: &SourceName, error: &AgentError) -> AgentError {
    tracing::info!(%error, %source, "a source was removed while it was asked");
    let message = text!("The source {source} was removed while the question ran.", source);
    AgentError::invalid(message).reason("source_removed")
}

/// Returns the error of a refresh of a source that no file can be read into again.
pub(super) fn no_place(name: &SourceName) -> AgentError {
    AgentError::invalid(text!("{name} has no file that could be read again.", name))
        .reason("no_place")
        .hint("Import a file or a pattern such as exports/*.csv into it.")
}

/// Replaces paths below a folder of the profile by the names of their files.
pub(super) fn without_paths(mut error: AgentError, folder: &Path) -> AgentError {
    let real = folder.canonicalize().ok();
    for folder in [Some(folder), real.as_deref()].into_iter().flatten() {
        let folder = folder.display().to_string();
        error.message = shorten(&error.message, &folder);
        error.details.values_mut().for_each(|value| shorten_all(value, &folder));
    }
    error
}

/// Returns the error that a process reported, with its own reason and hint. The client puts the
/// error's JSON after its sentence.
pub(super) fn error_of(mut error: AgentError) -> AgentError {
    let own = error.message.match_indices('{').find_map(|(at, _)| {
        serde_json::from_str::<AgentError>(error.message.get(at..)?.trim()).ok()
    });
    if let Some(own) = own {
        return own;
    }
    if error.has_reason(Reason::McpException) && !error.details.contains_key("code") {
        return AgentError::new(
            ErrorCode::InternalError,
            "The program that answers questions ended before it answered.",
        )
        .reason("data_process_ended")
        .retryable(true)
        .hint("Ask again: it is started anew. If it ends again, ask for a shorter period or fewer groups.");
    }
    // A long error is cut, and its JSON is of no use then.
    if let Some((sentence, _)) = error.message.split_once("\n{") {
        let sentence = sentence.to_owned();
        error.set_message(sentence);
    }
    error
}

fn shorten_all(value: &mut Value, folder: &str) {
    match value {
        Value::String(text) => *text = shorten(text, folder),
        Value::Array(items) => items.iter_mut().for_each(|item| shorten_all(item, folder)),
        Value::Object(members) => members.values_mut().for_each(|one| shorten_all(one, folder)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shorten(text: &str, folder: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    let (mut told, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(folder).filter(|_| !folder.is_empty()) {
        told.push_str(before);
        let (path, behind) =
            after.split_at(after.find(|c: char| !is_part(c)).unwrap_or(after.len()));
        let whole = format!("{folder}{path}");
        if path.is_empty() || path == "." || path.starts_with('/') {
            told.push_str(whole.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
        } else {
            // Another path that only begins in the same way.
            told.push_str(&whole);
        }
        rest = behind;
    }
    told.push_str(rest);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_process_keeps_its_reason_and_hint() {
        let own = AgentError::invalid("No.").reason("query_failed").hint("Ask again.");
        let text = serde_json::to_string(&own).unwrap();
        let told = error_of(AgentError::new(ErrorCode::ToolHttpError, format!("No.\n{text}")));
        assert_eq!(
            (told.reason_text(), told.hint_text()),
            (Some("query_failed"), Some("Ask again."))
        );
    }

    #[test]
    fn an_error_names_files_of_the_profile_without_their_folders() {
        let told = |file: &str| {
            let cause = format!("IO Error: Cannot open file \"{file}\": No such file or directory");
            text!("The database library failed: {cause}.", cause)
        };
        let path = "/home/ana b/data/sources/orders/parts/ab12.parquet";
        let folder = Path::new("/home/ana b/data");
        let error = AgentError::internal("data_engine", told(path)).hint(told(path));
        let error = without_paths(error, folder);
        // The texts can still be translated.
        assert_eq!(error.text(), told("ab12.parquet"));
        assert_eq!(error.hint_as_text(), Some(told("ab12.parquet")));
        assert!(!serde_json::to_string(&error).unwrap().contains("ana b"), "{error:?}");
        for other in ["/home/ana b/database/a.pem", "/home/bo/data/a.csv", "\"/landing/page\""] {
            let error = without_paths(AgentError::invalid(other), folder);
            assert_eq!(error.message, other);
        }
        let two = "/home/ana b/data/a/one.parquet, /home/ana b/data/b/";
        let error = without_paths(AgentError::invalid(two), folder);
        assert_eq!(error.message, "one.parquet, b");
        let itself = "\"/home/ana b/data\" is full: /home/ana b/data.";
        let error = without_paths(AgentError::invalid(itself), folder);
        assert_eq!(error.message, "\"data\" is full: data.");
    }
}
