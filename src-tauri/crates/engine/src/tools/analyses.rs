//! Reuses recent analyses of the same conversation: a call with the same tool and arguments within
//! fifteen minutes gets the stored result, marked with its time. All other calls run again. The
//! texts of answers are never reused.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use contract::{CallId, Item, ItemBody, ToolOutcome, ToolSpec};
use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    canonical::canonical,
    ports::{Clock, World},
    texts::Text,
    tools::{
        call::{CallDone, Ready},
        scope::Scope,
    },
    turn::context::TurnContext,
};

/// The time in minutes during which an analysis is reused.
const FRESH_MINUTES: i64 = 15;

/// A stored analysis: its call, the time of its data, and its result.
struct Analysis<'a> {
    result: &'a CallId,
    as_of: DateTime<Utc>,
    stored_at: DateTime<Utc>,
    data: &'a Value,
    untrusted: bool,
    local_only: bool,
}

/// The stored analyses that may be reused.
pub struct Analyses {
    clock: Arc<dyn Clock>,
    /// The time of the last change of the analysed data.
    changed_at: Mutex<Option<DateTime<Utc>>>,
}

impl Analyses {
    pub(crate) fn new(world: &World) -> Self {
        Self { clock: Arc::clone(&world.clock), changed_at: Mutex::default() }
    }

    /// Marks all earlier analyses as outdated, because their data has changed.
    pub fn forget(&self) {
        *self.changed_at.lock() = Some(self.clock.now());
    }

    /// Returns the stored analysis that answers this call, if there is one.
    pub(crate) fn earlier(
        &self,
        context: &TurnContext,
        scope: &Scope,
        ready: &Ready,
    ) -> Option<CallDone> {
        let pointer = ready.spec.as_of.as_deref()?;
        let recalled = scope.recalled.as_ref()?;
        let found = newest_analysis(&recalled.items, &ready.spec, pointer, &ready.arguments)?;
        let now = self.clock.now();
        let changed = *self.changed_at.lock();
        let age = now - found.as_of;
        if age < TimeDelta::zero()
            || age > TimeDelta::minutes(FRESH_MINUTES)
            || changed.is_some_and(|at| found.stored_at <= at)
        {
            return None;
        }
        let at = local_time(found.as_of, &context.world().profile.time_zone());
        tracing::debug!(tool = %ready.spec.id, result = %found.result, "answered from an earlier analysis");
        let mut done = CallDone::of(
            ready,
            ToolOutcome::Ok,
            None,
            format!("{} {at}", Text::AsOf.in_locale(&context.locale)),
        );
        done.data = Arc::new(found.data.clone());
        done.is_untrusted = found.untrusted || ready.follows_untrusted;
        done.local_only = found.local_only;
        done.as_of = Some(at);
        Some(done)
    }
}

fn newest_analysis<'a>(
    items: &'a [Arc<Item>],
    spec: &ToolSpec,
    pointer: &str,
    arguments: &Value,
) -> Option<Analysis<'a>> {
    let wanted = canonical(arguments);
    items.iter().rev().find_map(|item| {
        let ItemBody::ToolResult {
            call,
            tool,
            outcome: ToolOutcome::Ok,
            data,
            untrusted,
            local_only,
            ..
        } = &item.body
        else {
            return None;
        };
        let asked = (*tool == spec.id).then(|| arguments_of(items, call)).flatten()?;
        if canonical(asked) != wanted {
            return None;
        }
        let as_of = data
            .pointer(pointer)
            .and_then(Value::as_str)
            .and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        Some(Analysis {
            result: call,
            as_of: as_of.map_or(item.created_at, |at| at.to_utc()),
            stored_at: item.created_at,
            data,
            untrusted: *untrusted,
            local_only: local_only.unwrap_or_default(),
        })
    })
}

fn arguments_of<'a>(items: &'a [Arc<Item>], wanted: &CallId) -> Option<&'a Value> {
    items.iter().find_map(|item| match &item.body {
        ItemBody::ToolCall { call, arguments, .. } if call == wanted => Some(arguments),
        _ => None,
    })
}

fn local_time(at: DateTime<Utc>, zone: &str) -> String {
    zone.parse::<chrono_tz::Tz>().map_or_else(
        |_| at.format("%H:%M UTC").to_string(),
        |zone| at.with_timezone(&zone).format("%H:%M").to_string(),
    )
}
