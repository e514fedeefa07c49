//! Says which tools of a server cannot be used, and which parts of their schemas are left to the
//! server. Told when a server is added, and in `doctor`. Must not know how a server is reached.

use std::fmt::Write as _;

use contract::{Text, text};
use mcp::{Definition, UnreadableTool};

/// The most places that one note names.
const PLACES: usize = 5;

/// Says why a listed tool cannot be used.
pub(crate) fn note_unreadable(tool: &UnreadableTool) -> Text {
    text!("The tool {name} cannot be used. {why}", name = tool.name, why = tool.why)
}

/// Says which parts of a tool's schemas cannot be checked here. None if all can.
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
