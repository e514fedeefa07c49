//! Tests of `csign ask`: events, only the answer on standard output, and continued sessions.

use campaign_portfolio_pacing::sample;
use chrono::DateTime;
use serde_json::Value;

use crate::world::{NOW, World, text};

fn events(out: &str) -> Vec<Value> {
    out.lines()
        .map(|line| {
            serde_json::from_str(line)
                .unwrap_or_else(|e| panic!("an event a line, but {e}: {line}"))
        })
        .collect()
}

#[test]
fn ask_with_json_prints_the_events_of_one_turn() {
    let world = World::new();
    let ran = world.run(&["ask", "--json", "How is account 17 pacing?"]).ends_with(0);
    let events = events(&ran.out);
    assert!(
        events.windows(2).all(|pair| pair[0]["n"].as_u64() < pair[1]["n"].as_u64()),
        "in order"
    );
    assert!(events.iter().all(|event| event["turn"] == events[0]["turn"]), "of one turn");
    let finals: Vec<&Value> = events.iter().filter(|event| event["type"] == "final").collect();
    let [last] = finals.as_slice() else { panic!("exactly one final") };
    assert_eq!(Some(*last), events.last());
    assert_eq!(last["status"], "ok");
    assert!(text(last, "text").contains("account 17"), "{last}");
    let deltas: String = events
        .iter()
        .filter(|event| event["type"] == "delta")
        .map(|event| text(event, "text"))
        .collect();
    assert_eq!(deltas, text(last, "text"), "the deltas make up the answer");
    let kinds: Vec<&str> = events.iter().map(|event| text(event, "type")).collect();
    let position =
        |kind| kinds.iter().position(|k| *k == kind).unwrap_or_else(|| panic!("no {kind}"));
    assert!(
        position("tool_start") < position("tool_end") && position("tool_end") < position("delta")
    );
    let end = events.iter().find(|event| event["type"] == "tool_end").expect("there");
    assert_eq!((text(end, "tool"), text(end, "outcome")), ("analyze_portfolio_pacing", "ok"));
    assert!(ran.err.is_empty(), "{}", ran.err);
}

/// Computes the figures independently from the sample's rows, without the program's other code.
#[test]
fn the_figures_equal_an_independent_calculation_from_the_sample_rows() {
    let events =
        events(&World::new().run(&["ask", "--json", "How is account 17 pacing?"]).ends_with(0).out);
    let result = events
        .iter()
        .map(|event| &event["item"]["body"])
        .find(|body| body["kind"] == "tool_result")
        .expect("a result");
    // 10:00 UTC is 02:00 in Los Angeles. Without dates, the report covers the current month, and of
    // today only the hours that have passed.
    let late = (DateTime::parse_from_rfc3339(text(&result["data"], "as_of")).expect("a time")
        - DateTime::parse_from_rfc3339(NOW).expect("a time"))
    .num_seconds();
    assert!((0..3_600).contains(&late), "of this run: {late} s late");
    let (first_day, last_day) = (-20_i64, 9_i64);
    let part_of_today = (7_200 + late) as f64 / 86_400.0;
    let sample = sample::generate(sample::SEED);
    let account =
        sample.accounts.iter().position(|account| account.id == "17").expect("in the sample");
    let rows = sample.rows.iter().filter(|row| {
        row.day >= first_day
            && sample.campaigns[sample.line_items[row.line_item].campaign].account == account
    });
    let cents = |row: &sample::SampleRow| row.spend as f64 / 10_000.0;
    let spent: f64 = rows.map(|row| if row.day == 0 { (cents(row) * part_of_today).floor() } else { cents(row) } / 100.0).sum();
    // The budget is spread evenly over the days of the flight, and the part for the days that have
    // passed is due.
    let per_day = |campaign: &sample::SampleCampaign| {
        let (first, last) = campaign.flight;
        campaign.budget as f64 / 1e6 / (last - first + 1) as f64
    };
    let days_here = |campaign: &sample::SampleCampaign| {
        let (first, last) = campaign.flight;
        (last.min(last_day) - first.max(first_day) + 1).max(0) as f64
    };
    let days_passed = |campaign: &sample::SampleCampaign| {
        let first = campaign.flight.0.max(first_day) as f64;
        (part_of_today - first).clamp(0.0, days_here(campaign))
    };
    let of_account = || sample.campaigns.iter().filter(|campaign| campaign.account == account);
    let budget: f64 = of_account().map(|one| per_day(one) * days_here(one)).sum();
    let due: f64 = of_account().map(|one| per_day(one) * days_passed(one)).sum();
    let status = &result["data"]["insights"]["budget_status"];
    for (figure, expected) in
        [("spent_budget", spent), ("portfolio_budget", budget), ("should_have_spent", due)]
    {
        assert!(
            (status[figure].as_f64().expect("a number") - expected).abs() < 0.006,
            "{figure}: {} is not {expected}",
            status[figure]
        );
    }
    let answer = text(events.last().expect("an end"), "text");
    for amount in [spent, budget, due] {
        let (thousands, rest) = ((amount.round() as i64) / 1_000, (amount.round() as i64) % 1_000);
        assert!(answer.contains(&format!("{thousands},{rest:03}")), "{amount} in {answer}");
    }
}

#[test]
fn ask_without_json_prints_only_the_answer_on_standard_output() {
    let world = World::new();
    // Without a terminal there is no colour, because the snapshot would contain the escape
    // sequences.
    insta::assert_snapshot!(world.transcript(&[&["ask", "How is account 17 pacing this month?"]]));
}

#[test]
fn ask_continues_a_session_and_reads_the_message_from_a_pipe() {
    let world = World::new();
    world.run(&["ask", "--session", "desk", "How is account 17 pacing this month?"]).ends_with(0);
    let mut command = world.command(&["ask", "--json", "--session", "desk", "-"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), b"what can you do?\n")
        .expect("written");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success());
    let events = events(&String::from_utf8(output.stdout).expect("UTF-8"));
    assert!(events.iter().all(|event| event["session"] == "desk"));
    assert!(events.iter().any(
        |event| event["type"] == "item" && event["item"]["body"]["text"] == "what can you do?"
    ));
}

#[test]
fn the_model_option_selects_the_model_that_answers() {
    let world = World::new();
    let ran = world.run(&["ask", "--model", "offline", "hello"]).ends_with(0);
    assert!(!ran.out.trim().is_empty());
}

#[test]
fn the_agent_option_selects_the_specialist_that_answers() {
    let world = World::new();
    let ran = world
        .run(&["ask", "--json", "--agent", "shopper", "How is account 17 pacing?"])
        .ends_with(0);
    let events = events(&ran.out);
    let started: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "agent_start")
        .map(|event| text(event, "agent"))
        .collect();
    assert_eq!(started, ["shopper"]);
    assert!(!events.iter().any(|event| event["type"] == "tool_start"), "pacing is not its field");
    let unknown = world.run(&["ask", "--agent", "nobody", "hello"]).ends_with(1);
    assert!(
        unknown.err.contains("There is no specialist nobody") && unknown.err.contains("guardian"),
        "{}",
        unknown.err
    );
}
