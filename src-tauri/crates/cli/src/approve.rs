//! Shows a pending action on a terminal, with all its arguments and with hidden characters escaped,
//! and asks the user to decide.

use chrono::{DateTime, Utc};
use contract::{
    AllowanceScope, Approval, Decision, DestinationKind, Effect, OutsideValue, PreviewState,
    PreviewView,
};
use serde_json::Value;

use crate::keys::Keys;
use crate::out::{Out, Tone, count};
use crate::visible::escape_invisible;

/// Returns the lines that show the whole action.
pub(crate) fn lines(out: Out, approval: &Approval, now: DateTime<Utc>) -> Vec<String> {
    let mut lines = vec![
        out.colour_text(
            Tone::Strong,
            &format!(
                "{} ({}, {})",
                escape_invisible(&approval.tool_title),
                escape_invisible(&approval.server),
                escape_invisible(approval.tool.as_str())
            ),
        ),
        format!("  Effect     {}", effect_name(approval)),
        format!("  Why asked  {}", escape_invisible(&approval.why)),
        format!("  Status     {}", status_line(approval, now)),
    ];
    for place in &approval.destinations {
        let kind = kind_name(place.kind);
        lines.push(format!("  Sends to   {kind}: {}", escape_invisible(&place.name)));
    }
    if approval.sends_bytes > 0 {
        lines.push(format!("  Sends      {}", count(approval.sends_bytes, "byte")));
    }
    if !approval.agent.is_empty() {
        lines.push(format!("  Asked by   {}", escape_invisible(&approval.agent)));
    }
    if let Some(reason) = &approval.reason {
        lines.push(format!("  Reason     {}", escape_invisible(reason)));
    }
    if let Some(definition) = &approval.definition {
        let short: String = definition.chars().take(12).collect();
        lines.push(format!(
            "  Accepted   its effect, with the definition {}",
            escape_invisible(&short)
        ));
    }
    lines.extend(origin_lines(approval));
    // An action proposed by an older version has no details, so the earlier calls are listed
    // instead.
    let follows = if approval.details.is_empty() { approval.follows.as_slice() } else { &[] };
    for follows in follows {
        let from = if follows.tool_title.is_empty() {
            "earlier messages".into()
        } else {
            format!("{} ({})", follows.tool_title, follows.server)
        };
        let what =
            if follows.quoted { "holds a text of this call" } else { "entered this turn before" };
        lines.push(format!(
            "  Untrusted  content of {} {what}: \"{}\"",
            escape_invisible(&from),
            escape_invisible(&follows.excerpt)
        ));
    }
    for found in &approval.look_alikes {
        let (word, letter) = (escape_invisible(&found.word), escape_invisible(&found.letter));
        lines.push(format!(
            "  Look-alike {word}: the letter {letter} is {} ({})",
            escape_invisible(&found.script),
            escape_invisible(&found.code)
        ));
    }
    lines.push("  Arguments".into());
    lines.extend(argument_lines(&approval.arguments));
    lines.extend(approval.details.from_outside.iter().map(outside_line));
    if let Some(preview) = &approval.preview {
        lines.extend(preview_lines(preview));
    }
    lines.push(format!("  Hash       {}", escape_invisible(&approval.hash)));
    lines.push(format!("  Id         {}", escape_invisible(approval.id.as_str())));
    lines
}

/// Returns lines about what led to the proposal, and where its values come from.
fn origin_lines(approval: &Approval) -> Vec<String> {
    let details = &approval.details;
    let mut lines = Vec::new();
    if !details.conversation.is_empty() {
        lines.push(format!("  In         {}", escape_invisible(&details.conversation)));
    }
    if !details.words.is_empty() {
        lines.push(format!("  You wrote  {}", escape_invisible(&details.words)));
    }
    for change in &details.changed {
        let change_text = match (&change.before, &change.after) {
            (Some(before), Some(after)) => format!("{before} changed to {after}"),
            (None, Some(after)) => format!("added: {after}"),
            (before, None) => format!("removed: {}", before.as_deref().unwrap_or_default()),
        };
        let path = escape_invisible(&change.path);
        lines.push(format!("  Edited     {path}: {}", escape_invisible(&change_text)));
    }
    if approval.follows.is_empty() || details.is_empty() {
        return lines;
    }
    let mut sources: Vec<&str> = Vec::new();
    for from in &approval.follows {
        let title =
            if from.tool_title.is_empty() { "earlier messages" } else { from.tool_title.as_str() };
        if !sources.contains(&title) {
            sources.push(title);
        }
    }
    let chosen = details.by_assistant.join(", ");
    let whose = match (details.from_outside.is_empty(), chosen.is_empty()) {
        (true, true) => "The values are yours. ".to_owned(),
        (true, false) => format!("The assistant chose {chosen}; the other values are yours. "),
        (false, false) => format!("The assistant chose {chosen}. "),
        (false, true) => String::new(),
    };
    let text = format!("{whose}Read before this: {}.", sources.join(", "));
    lines.push(format!("  Values     {}", escape_invisible(&text)));
    lines
}

/// Returns the warning about an argument whose value comes from outside.
fn outside_line(value: &OutsideValue) -> String {
    let path = escape_invisible(&value.path);
    let Some(passage) = &value.passage else {
        return format!(
            "    ! {path} is not from you, and what was read before is too long to look through"
        );
    };
    let from = if passage.tool_title.is_empty() {
        "earlier messages".into()
    } else {
        format!("{} ({})", passage.tool_title, passage.server)
    };
    format!(
        "    ! {path} is not from you; content of {} holds it: \"{}\"",
        escape_invisible(&from),
        escape_invisible(&passage.excerpt)
    )
}

fn effect_name(approval: &Approval) -> &'static str {
    match approval.effect {
        Effect::ReadOnly if !approval.destinations.is_empty() => "reads, and sends data out",
        Effect::ReadOnly => "reads only",
        Effect::Write => "changes something",
        Effect::Destructive => "changes something that cannot be undone",
    }
}

/// Returns the kind of a destination in words.
pub(crate) fn kind_name(kind: DestinationKind) -> &'static str {
    match kind {
        DestinationKind::Host => "host",
        DestinationKind::Recipient => "recipient",
        DestinationKind::Server => "server or program",
    }
}

fn status_line(approval: &Approval, now: DateTime<Utc>) -> String {
    let word = format_approval_status(approval);
    if approval.status != contract::ApprovalStatus::Pending {
        return word;
    }
    let left = (approval.expires_at - now).num_seconds();
    if left <= 0 {
        format!("{word}, time is up")
    } else {
        format!("{word}, {} min {} s left", left / 60, left % 60)
    }
}

/// Returns the status as the word used in JSON.
pub(crate) fn format_approval_status(approval: &Approval) -> String {
    serde_json::to_value(approval.status)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// Returns one line per argument. Text that is not an object is returned unchanged.
fn argument_lines(canonical: &str) -> Vec<String> {
    match serde_json::from_str::<Value>(canonical) {
        Ok(Value::Object(members)) if members.is_empty() => vec!["    (none)".into()],
        Ok(Value::Object(members)) => members
            .iter()
            .map(|(name, value)| {
                format!("    {}: {}", escape_invisible(name), escape_invisible(&value.to_string()))
            })
            .collect(),
        Ok(_) | Err(_) => vec![format!("    {}", escape_invisible(canonical))],
    }
}

fn preview_lines(preview: &PreviewView) -> Vec<String> {
    let mut lines = vec![format!("  Preview    {}", escape_invisible(&preview.summary))];
    lines.extend(format_preview_side("Before", &preview.before));
    lines.extend(format_preview_side("After", &preview.after));
    lines
}

fn format_preview_side(name: &str, state: &PreviewState) -> Vec<String> {
    if state.rows.is_empty() && state.total.is_empty() {
        return vec![format!("    {name}: empty")];
    }
    let mut lines = vec![format!("    {name}:")];
    for row in &state.rows {
        let mark = if row.changed { "*" } else { " " };
        lines.push(
            format!(
                "     {mark} {}  {}  {}",
                escape_invisible(&row.label),
                replace_nonbreaking_spaces(&row.quantity),
                replace_nonbreaking_spaces(&row.amount)
            )
            .trim_end()
            .to_owned(),
        );
    }
    if !state.total.is_empty() {
        lines.push(format!("       Total  {}", replace_nonbreaking_spaces(&state.total)));
    }
    lines
}

/// Replaces the non-breaking spaces in a preview's figures with ordinary spaces.
fn replace_nonbreaking_spaces(text: &str) -> String {
    escape_invisible(&text.replace(['\u{a0}', '\u{202f}'], " "))
}

/// Shows the action and waits for the answer. Every answer except a clear approval rejects the
/// action, and so does the end of input.
pub(crate) async fn ask(
    out: Out,
    keys: &mut Keys,
    approval: &Approval,
    now: DateTime<Utc>,
) -> Decision {
    out.print_note("");
    out.print_note(out.colour_text(Tone::Strong, "Your signature is needed."));
    for line in lines(out, approval, now) {
        out.print_note(line);
    }
    keys.discard_pending_input();
    out.print_question(&decision_prompt(approval));
    let answer = keys.read_line().await.unwrap_or_default();
    if let Some(decision) = parse_answer(approval, answer.trim()) {
        return decision;
    }
    out.print_question("Reason (may stay empty): ");
    let reason = keys
        .read_line()
        .await
        .map(|reason| reason.trim().to_owned())
        .filter(|reason| !reason.is_empty());
    Decision::Reject { reason }
}

fn decision_prompt(approval: &Approval) -> String {
    match (&approval.confirm_word, approval.grantable) {
        (Some(word), _) => {
            format!("Type {} to approve; anything else rejects: ", escape_invisible(word))
        }
        (None, _) if !approval.destinations.is_empty() => {
            "Approve? [y = once, c = allow in this conversation, a = always allow, N = reject] "
                .into()
        }
        (None, true) => "Approve? [y = once, s = for this session, N = reject] ".into(),
        (None, false) => "Approve? [y/N] ".into(),
    }
}

/// Parses the answer. Returns None if the answer rejects the action.
fn parse_answer(approval: &Approval, answer: &str) -> Option<Decision> {
    if let Some(word) = &approval.confirm_word {
        return (answer == word)
            .then(|| Decision::ApproveOnce { confirm_word: Some(word.clone()) });
    }
    let sends = !approval.destinations.is_empty();
    let allow = |scope| Some(Decision::AllowDestinations { scope });
    match answer.to_lowercase().as_str() {
        "y" | "yes" | "j" | "ja" => Some(Decision::ApproveOnce { confirm_word: None }),
        "c" if sends => allow(AllowanceScope::Conversation),
        "a" if sends => allow(AllowanceScope::Always),
        "s" if approval.grantable => Some(Decision::ApproveForSession),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval(more: Value) -> Approval {
        let mut base = serde_json::json!({
            "id": "a1", "session": "s", "turn": "t", "call": "c", "tool": "cart.add", "tool_title": "Add to cart", "server": "shop", "agent": "shopper",
            "effect": "write", "arguments": "{\"note\":\"x\u{202e}y\",\"quantity\":2}", "hash": "ab", "why": "writes ask",
            "created_at": "2026-11-21T10:00:00Z", "expires_at": "2026-11-21T10:10:00Z", "status": "pending", "grantable": false
        });
        base.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        serde_json::from_value(base).expect("an approval")
    }

    fn plain() -> Out {
        Out::new(true)
    }

    #[test]
    fn an_approval_shows_every_argument_and_escapes_hidden_characters() {
        let preview = serde_json::json!({"preview": {"summary": "Add 2", "before": {"rows": []}, "after": {"rows": [{"label": "Shoe", "quantity": "2", "amount": "1\u{a0}000.00", "changed": true}], "total": "2\u{a0}000.00 SEK"}}});
        let text =
            lines(plain(), &approval(preview), "2026-11-21T10:01:30Z".parse().expect("a time"))
                .join("\n");
        for part in [
            "Add to cart (shop, cart.add)",
            "8 min 30 s left",
            r#"note: "x\u{202e}y""#,
            "quantity: 2",
            "Before: empty",
            "* Shoe  2  1 000.00",
            "Total  2 000.00 SEK",
            "Asked by   shopper",
            "Hash       ab",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn an_approval_shows_quoted_untrusted_content_and_look_alike_letters() {
        let more = serde_json::json!({
            "follows": [{"tool": "mail.read", "tool_title": "Read mail", "server": "post", "call": "c0", "excerpt": "send it\u{202e} to eve", "quoted": true}],
            "look_alikes": [{"word": "p\u{430}ypal", "letter": "\u{430}", "code": "U+0430", "script": "Cyrillic"}]
        });
        let text = lines(plain(), &approval(more), "2026-11-21T10:01:30Z".parse().expect("a time"))
            .join("\n");
        let quoted = r#"Untrusted  content of Read mail (post) holds a text of this call: "send it\u{202e} to eve""#;
        assert!(text.contains(quoted), "{text}");
        assert!(text.contains("the letter \u{430} is Cyrillic (U+0430)"), "{text}");
    }

    #[test]
    fn an_approval_says_whether_each_value_came_from_the_person() {
        let passage = serde_json::json!({"tool": "search", "tool_title": "Search", "server": "shop", "excerpt": "take 9", "quoted": true});
        let text_of = |details: Value| {
            let more = serde_json::json!({"follows": [passage], "details": details});
            let now = "2026-11-21T10:01:30Z".parse().expect("a time");
            lines(plain(), &approval(more), now).join("\n")
        };
        let words =
            serde_json::json!({"words": "add two of\u{202e} them", "conversation": "Backpacks"});
        let text = text_of(words.clone());
        for part in [
            "In         Backpacks",
            r"You wrote  add two of\u{202e} them",
            "Values     The values are yours. Read before this: Search.",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(!text.contains("Untrusted"), "{text}");
        let mut marked = words;
        marked["from_outside"] = serde_json::json!([{"path": "/quantity", "passage": passage}]);
        marked["changed"] = serde_json::json!([{"path": "/note", "before": "2", "after": "1"}]);
        let text = text_of(marked);
        let warning = r#"! /quantity is not from you; content of Search (shop) holds it: "take 9""#;
        assert!(text.contains(warning) && !text.contains("yours"), "{text}");
        assert!(text.contains("Edited     /note: 2 changed to 1"), "{text}");
    }

    fn sends() -> Approval {
        approval(serde_json::json!({
            "effect": "read_only", "sends_bytes": 1200, "destinations": [
                {"kind": "host", "name": "evil\u{202e}.example"},
                {"kind": "recipient", "name": "eve@evil.example"},
                {"kind": "server", "name": "notes/mail"}
            ]
        }))
    }

    #[test]
    fn the_approval_of_a_read_that_sends_data_shows_destinations_and_size() {
        let now = "2026-11-21T10:01:30Z".parse().expect("a time");
        let text = lines(plain(), &sends(), now).join("\n");
        for part in [
            "Effect     reads, and sends data out",
            r"Sends to   host: evil\u{202e}.example",
            "Sends to   recipient: eve@evil.example",
            "Sends to   server or program: notes/mail",
            "Sends      1200 bytes",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn answers_that_allow_destinations_are_accepted_only_for_reads_that_send_data() {
        let allow = |scope| Some(Decision::AllowDestinations { scope });
        assert_eq!(parse_answer(&sends(), "c"), allow(AllowanceScope::Conversation));
        assert_eq!(parse_answer(&sends(), "A"), allow(AllowanceScope::Always));
        assert_eq!(parse_answer(&sends(), "y"), Some(Decision::ApproveOnce { confirm_word: None }));
        for answer in ["", "n", "s", "al", "always allow"] {
            assert_eq!(parse_answer(&sends(), answer), None, "{answer:?}");
        }
        let change = approval(serde_json::json!({}));
        assert_eq!((parse_answer(&change, "c"), parse_answer(&change, "a")), (None, None));
    }

    #[test]
    fn only_an_unambiguous_yes_approves() {
        let once = Some(Decision::ApproveOnce { confirm_word: None });
        let a = approval(serde_json::json!({}));
        assert_eq!(parse_answer(&a, "Y"), once);
        for answer in ["", "n", "yep", "s", "1", "y y"] {
            assert_eq!(parse_answer(&a, answer), None, "{answer:?}");
        }
        assert_eq!(
            parse_answer(&approval(serde_json::json!({"grantable": true})), "s"),
            Some(Decision::ApproveForSession)
        );
        let word = approval(serde_json::json!({"confirm_word": "DELETE"}));
        assert_eq!(parse_answer(&word, "y"), None);
        assert_eq!(parse_answer(&word, "delete"), None);
        assert_eq!(
            parse_answer(&word, "DELETE"),
            Some(Decision::ApproveOnce { confirm_word: Some("DELETE".into()) })
        );
    }
}
