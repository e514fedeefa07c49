//! Writes the versions of messages that were not shown before a recorded turn to the store of its
//! replay: the turn that the recorded turn replaces, and the actions that make it ask again.

use chrono::{DateTime, Utc};
use contract::{CallId, Effect, Item, ItemBody, ResultView, SessionId, ToolOutcome, TurnId, Usage};
use serde_json::Value;

use crate::ports::{HiddenAction, StoreError, TurnRow, World};

/// The id of the turn that made the hidden actions, if the recorded turn replaces no turn.
const HIDDEN: &str = "hidden";
/// The id of the turn that is shown instead.
const SHOWN: &str = "shown";

/// Writes the actions as those of a turn that is not shown. If the recorded turn replaces a turn, it
/// hides these actions itself.
pub(super) async fn seed(
    world: &World,
    (session, at): (&SessionId, DateTime<Utc>),
    actions: &[HiddenAction],
    replaced: Option<&TurnId>,
) -> Result<(), StoreError> {
    if actions.is_empty() && replaced.is_none() {
        return Ok(());
    }
    let row = |turn: &TurnId| TurnRow {
        turn: turn.clone(),
        session: session.clone(),
        started_at: at,
        ended_at: Some(at),
        status: "ok".into(),
        model: String::new(),
        usage: Usage::default(),
    };
    let turn = replaced.cloned().unwrap_or_else(|| TurnId::new(HIDDEN));
    let items = actions
        .iter()
        .enumerate()
        .flat_map(|(at, action)| items_of(action, &format!("{HIDDEN}-{at}"), (session, &turn)));
    world.store.turn_save(&row(&turn), items.collect(), None).await?;
    if replaced.is_none() {
        let shown = TurnId::new(SHOWN);
        if world.store.turn_replace(&row(&shown), Vec::new(), &turn).await?.is_err() {
            tracing::warn!("the hidden messages of a replay could not be hidden");
        }
    }
    Ok(())
}

/// Returns the call of an action and its result.
fn items_of(action: &HiddenAction, id: &str, (session, turn): (&SessionId, &TurnId)) -> [Item; 2] {
    let call = CallId::new(id);
    let item = |name: &str, body| Item {
        id: format!("{id}-{name}").into(),
        session: session.clone(),
        turn: turn.clone(),
        seq: 0,
        created_at: action.at,
        body,
    };
    let asked = ItemBody::ToolCall {
        call: call.clone(),
        tool: action.tool.clone(),
        title: String::new(),
        effect: Effect::Write,
        arguments: action.arguments.clone(),
        local_only: false,
        untrusted: false,
        kept: None,
    };
    let done = ItemBody::ToolResult {
        call,
        tool: action.tool.clone(),
        outcome: ToolOutcome::Ok,
        summary: String::new(),
        data: Value::Null,
        error: None,
        local_only: Some(false),
        view: ResultView::default(),
        parsed: None,
        untrusted: false,
        duration_ms: 0,
    };
    [item("call", asked), item("result", done)]
}
