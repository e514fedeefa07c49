//! Makes notes about tools of a server that cannot be used, and about parts of their schemas that
//! only the server checks. The notes are shown when a server is added, and by `doctor`. Must not
//! know how a server is reached.

use std::fmt::Write as _;

use contract::{Text, text};
use mcp::{Definition, UnreadableTool};

/// The maximum number of places that one note lists.
const PLACES: usize = 5;

/// Returns a note about why a listed tool cannot be used.
pub(crate) fn note_unreadable(tool: &UnreadableTool) -> Text {
    text!("The tool {name} cannot be used. {why}", name = tool.name, why = tool.why)
}

/// Returns a note about the parts of a tool's schemas that cannot be checked here, or None if all
/// parts can be checked.
pub(crate) fn note_unchecked(tool: &Definition) -> Option<Text> {
    let inputs = engine::unchecked_places(&tool.input_schema);
    let outputs = tool.output_schema.as_ref().map(engine::unchecked_places).unwrap_or_default();
    let count = inputs.places.len() + inputs.more + outputs.places.len() + outputs.more;
    let named: Vec<String> = inputs.places.into_iter().chain(outputs.places).take(PLACES).collect();
    let mut places = named.join(", ");
    if count > named.len() {
        let _ = write!(places, " (+{})", count - named.len());
    }
    (count > 0).then(|| {
        text!(
            "The tool {name} can be used, but a part of its schema cannot be checked here and is left to the server: {places}.",
            name = tool.name,
            places
        )
    })
}
