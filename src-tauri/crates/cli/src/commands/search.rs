//! `csign search`: finds messages of all conversations, or of one, by their words.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use contract::{MessageHit, MessagesSearchParams, SessionId};

use crate::args::Search;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::Out;
use crate::visible::escape_invisible;

pub(crate) async fn run(link: &Link, out: Out, args: Search) -> Result<Exit, Failure> {
    let params = MessagesSearchParams {
        text: args.text.join(" "),
        session: args.session.map(SessionId::from),
        since: args.since.map(begin_of),
        until: args.until.and_then(|day| day.checked_add_days(Days::new(1))).map(begin_of),
        agent: args.agent,
        tool: args.tool,
        offset: 0,
        limit: args.limit,
    };
    let found = link.commands.messages_search(params).await?;
    if out.json {
        out.print_json(&found);
        return Ok(Exit::Done);
    }
    for (session, hits) in by_session(&found.hits) {
        out.print_line(session);
        hits.iter().for_each(|hit| out.print_line(hit_line(hit)));
    }
    if found.hits.is_empty() {
        out.print_note("No message has these words.");
    }
    if found.has_more {
        out.print_note("There are more: raise --limit, or search for more words.");
    }
    Ok(Exit::Done)
}

/// Returns the first moment of a day.
fn begin_of(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

/// Groups the messages by session, ordered by the best message of each session.
fn by_session(hits: &[MessageHit]) -> Vec<(String, Vec<&MessageHit>)> {
    let mut groups: Vec<(&MessageHit, Vec<&MessageHit>)> = Vec::new();
    for hit in hits {
        match groups.iter_mut().find(|(first, _)| first.session == hit.session) {
            Some((_, group)) => group.push(hit),
            None => groups.push((hit, vec![hit])),
        }
    }
    let heading = |hit: &MessageHit| {
        format!("{}  {}", escape_invisible(hit.session.as_str()), escape_invisible(&hit.title))
    };
    groups.into_iter().map(|(first, group)| (heading(first), group)).collect()
}

fn hit_line(hit: &MessageHit) -> String {
    let speaker = if hit.from_user { "you" } else { "answer" };
    let text: String = hit.snippet.iter().map(|piece| piece.text.as_str()).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("  {}  {speaker:6}  {}", hit.at.format("%Y-%m-%d %H:%M"), escape_invisible(&text))
}
