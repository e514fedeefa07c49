//! Compares the calls with the person's messages and approvals.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Approval, Destination, Effect, SessionId, ToolSpec};
use engine::ports::ToolRequest;
use serde_json::Value;

use super::outside::Delivery;

/// A call that the person approved.
struct Signed {
    session: SessionId,
    tool: String,
    arguments: Value,
    destinations: Vec<Destination>,
    /// Whether the approval covers equal calls for the rest of the conversation.
    for_session: bool,
    is_used: bool,
}

#[derive(Default)]
pub struct Judge {
    /// The servers whose reads may run according to the person.
    pub configured: BTreeSet<Destination>,
    named: BTreeMap<SessionId, BTreeSet<Destination>>,
    allowed: BTreeMap<SessionId, BTreeSet<Destination>>,
    always: BTreeSet<Destination>,
    typed: BTreeMap<SessionId, String>,
    signed: Vec<Signed>,
    pub faults: Vec<String>,
    pub rightful_deliveries: u64,
    pub signed_effects: u64,
}

impl Judge {
    /// Records a message of the person and the destinations that it names.
    pub fn hear(&mut self, session: &SessionId, message: &str, named: &[Destination]) {
        self.typed.entry(session.clone()).or_default().push_str(&format!("\n{message}"));
        self.named.entry(session.clone()).or_default().extend(named.iter().cloned());
    }

    /// Records an approval before it is given.
    pub fn sign(&mut self, approval: &Approval, for_session: bool) {
        self.signed.push(Signed {
            session: approval.session.clone(),
            tool: approval.tool.to_string(),
            arguments: serde_json::from_str(&approval.arguments).expect("canonical JSON"),
            destinations: approval.destinations.clone(),
            for_session,
            is_used: false,
        });
    }

    /// Records that the person allows the destinations of a read.
    pub fn allow(&mut self, approval: &Approval, always: bool) {
        let places = approval.destinations.iter().cloned();
        if always {
            self.always.extend(places);
        } else {
            self.allowed.entry(approval.session.clone()).or_default().extend(places);
        }
    }

    /// Judges a call that runs. `effect` is its actual effect, and `sent` is the data that actually
    /// leaves.
    pub fn see(
        &mut self,
        request: &ToolRequest,
        effect: Effect,
        sent: &[Delivery],
        secrets: &[String],
    ) {
        let signed = self.find_signed(request, effect);
        let is_effect = effect != Effect::ReadOnly;
        if is_effect && signed.is_none() {
            self.faults.push(format!(
                "{} ran without a signature: {}",
                request.spec.id, request.arguments
            ));
        }
        self.signed_effects += u64::from(is_effect && signed.is_some());
        for one in sent {
            // For a change, the person sees the whole call. For a read, the person sees the
            // destinations.
            let is_signed =
                signed.as_ref().is_some_and(|places| is_effect || places.contains(&one.to));
            if is_signed || self.is_allowed(&request.session, &one.to) {
                self.rightful_deliveries += 1;
                continue;
            }
            let carried: Vec<&String> =
                secrets.iter().filter(|s| one.bytes.contains(s.as_str())).collect();
            self.faults.push(format!(
                "{} bytes of {} went to {:?}, which nobody named or allowed (secrets in plain: {carried:?}): {}",
                one.bytes.len(), request.spec.id, one.to, one.bytes
            ));
        }
    }

    fn is_allowed(&self, session: &SessionId, place: &Destination) -> bool {
        let within = |all: &BTreeMap<SessionId, BTreeSet<Destination>>| {
            all.get(session).is_some_and(|places| places.contains(place))
        };
        self.configured.contains(place)
            || self.always.contains(place)
            || within(&self.named)
            || within(&self.allowed)
    }

    /// Returns the destinations of the approval that covers a call. An approval covers a single
    /// change.
    fn find_signed(&mut self, request: &ToolRequest, effect: Effect) -> Option<Vec<Destination>> {
        let typed = self.typed.get(&request.session).cloned().unwrap_or_default();
        let covers = |one: &&mut Signed| {
            one.session == request.session
                && one.tool == request.spec.id.as_str()
                && (one.arguments == request.arguments
                    && (!one.is_used || effect == Effect::ReadOnly)
                    || one.for_session && is_within(&one.arguments, request, &typed))
        };
        let found = self.signed.iter_mut().find(covers)?;
        found.is_used = true;
        Some(found.destinations.clone())
    }
}

/// Whether a permission for the rest of the conversation covers a call. All arguments except
/// numbers and booleans must be equal, and after outside content, numbers must have been typed.
fn is_within(approved: &Value, request: &ToolRequest, typed: &str) -> bool {
    let (Some(approved), Some(asked)) = (approved.as_object(), request.arguments.as_object())
    else {
        return false;
    };
    let can_vary = |value: &Value| value.is_number() || value.is_boolean();
    let is_same = |(name, value): (&String, &Value)| match approved.get(name) {
        Some(before) => {
            before == value
                || can_vary(before) && can_vary(value) && {
                    !request.content.is_untrusted
                        || value.is_number() && typed.contains(&value.to_string())
                }
        }
        None => can_vary(value) && !request.content.is_untrusted,
    };
    asked.iter().all(is_same) && approved.keys().all(|name| asked.contains_key(name))
}

/// Returns the arguments from the model, without arguments that the host sets.
pub fn of_model(spec: &ToolSpec, arguments: &Value) -> Value {
    let mut all = arguments.clone();
    if let Some(members) = all.as_object_mut() {
        members.retain(|name, _| !spec.caller_owned.iter().any(|owned| owned.name == *name));
    }
    all
}
