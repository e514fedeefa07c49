//! Renders stored items before they are sent to a window. Stored items contain only the text of an
//! answer and the data of a result.

use std::any::Any;

use contract::{Item, ItemBody, ItemsPageResponse, SessionView, ToolOutcome};

/// Renders the items inside a command's result, if its type contains any.
pub(crate) fn render_items<T: Any>(mut answer: T) -> T {
    let any: &mut dyn Any = &mut answer;
    if let Some(view) = any.downcast_mut::<SessionView>() {
        view.items.iter_mut().chain(&mut view.pinned).for_each(render_item);
    } else if let Some(page) = any.downcast_mut::<ItemsPageResponse>() {
        page.items.iter_mut().for_each(render_item);
    }
    answer
}

/// Renders one item.
pub(crate) fn render_item(item: &mut Item) {
    match &mut item.body {
        ItemBody::AssistantText { text, blocks, .. } => *blocks = render::blocks(text),
        ItemBody::ToolResult { outcome: ToolOutcome::Ok, view, data, parsed, .. } => {
            *parsed = shipped_packs::parse_result(view, &contract::json_text::members_of(data));
        }
        ItemBody::UserMessage { .. }
        | ItemBody::ToolCall { .. }
        | ItemBody::ToolResult { .. }
        | ItemBody::Approval { .. }
        | ItemBody::Redaction { .. }
        | ItemBody::Summary { .. }
        | ItemBody::Notice { .. } => {}
    }
}
