//! Tests of the questions of `csign data add`: how they are asked, what is shown before and after
//! them, and the options that answer them beforehand.

use super::*;
use crate::terminal::Terminal;

const PROMPT: &str = "Type a number (! stops): ";

/// The lines of a terminal without colours.
fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut pieces = line.trim_end_matches('\r').split('\u{1b}');
        let mut plain = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            plain.push_str(piece.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |p| p.1));
        }
        lines.push(plain);
    }
    lines
}

/// Makes a source with a long name. Returns a later file that lacks a small part of its rows.
fn with_vanished(world: &World) -> String {
    let campaigns = [
        ("Spring sale for all regions", "100.50,100,1000"),
        ("Summer sale for all regions", "10.25,5,50"),
        ("Elm", "5.25,2,20"),
    ];
    let rows = |campaigns: &[(&str, &str)]| -> String {
        let row = |day: u32, (name, numbers): &(&str, &str)| {
            format!("2026-11-{day:02},{name},{numbers}\n")
        };
        (1..4).flat_map(|day| campaigns.iter().map(move |one| row(day, one))).collect()
    };
    let head = "Day,Campaign,Cost (EUR),Clicks,Impressions\n";
    let first = file(world, "paid-search-all-regions.csv", format!("{head}{}", rows(&campaigns)));
    at_a_terminal(world, &["add", &first]).ends_with(0);
    file(world, "paid-search-all-regions-2.csv", format!("{head}{}", rows(&campaigns[..1])))
}

#[test]
fn an_early_line_does_not_answer_a_question() {
    let world = world();
    let file = file(&world, "spend.csv", AMBIGUOUS);
    let mut terminal = Terminal::start(&world, &["data", "add", &file]);
    terminal.type_in("2\n");
    // The terminal shows what was typed before the program asks.
    terminal.pass("2\r\n");
    terminal.wait_for(PROMPT);
    terminal.type_in("1\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_says(&seen, &["2026-11-01 to 2026-11-02"]);
}

#[test]
fn a_file_is_shown_in_short_before_its_question_and_whole_at_the_end() {
    let world = world();
    let file = with_vanished(&world);
    let mut terminal = Terminal::start(&world, &["data", "add", &file]);
    terminal.wait_for(PROMPT);
    terminal.type_in("1\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    for (part, times) in [("-2.csv → ", 2), ("changes", 2), ("read as", 1), ("columns", 1)] {
        assert_eq!(seen.matches(part).count(), times, "{part}:\n{seen}");
    }
    assert_says(&seen, &["decided vanished: replace", "Cost (EUR) 348.00 → 301.50 (-46.50)"]);
    assert!(!flat(&seen).contains("348.00 EUR"), "the name says the unit:\n{seen}");
}

#[test]
fn the_prose_of_an_import_fits_the_terminal() {
    let world = world();
    let file = with_vanished(&world);
    let mut terminal = Terminal::start(&world, &["data", "add", &file]);
    terminal.wait_for(PROMPT);
    terminal.type_in("!\n");
    let (asked, code) = terminal.end();
    assert_eq!(code, Some(7), "{asked}");
    assert_says(&asked, &["Stopped. Nothing was stored."]);
    let open = at_a_terminal(&world, &["add", &file]).ends_with(7).out;
    let list = at_a_terminal(&world, &["list"]).ends_with(0).out;
    let described = at_a_terminal(&world, &["describe", "paid_search_all_regions"]).ends_with(0);
    for text in [asked, open, list, described.out] {
        for line in lines(&text) {
            assert!(line.chars().count() <= 80, "{line:?} is too wide in\n{text}");
        }
    }
}

#[test]
fn each_choice_of_an_open_question_has_an_option_that_can_be_copied() {
    let world = world();
    let other = file(&world, "spend's.csv", AMBIGUOUS);
    for (name, vanished) in [("one", with_vanished(&world)), ("two", other)] {
        let ran = at_a_terminal(&world, &["add", &vanished]).ends_with(7);
        let options: Vec<String> = lines(&ran.out)
            .iter()
            .filter_map(|line| line.split_once("--answer "))
            .map(|(_, rest)| rest.split("  ").next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(options.len(), 2, "{name}: {}", ran.out);
        for option in options {
            // Words as a shell reads them.
            let quoted = format!("'{}'", vanished.replace('\'', r"'\''"));
            let line = ["data", "add", &quoted, "--check", "--answer", &option];
            let ran = world.at_a_terminal(&line).ends_with(0);
            assert_says(&ran.out, &["this was a check"]);
        }
    }
}

#[test]
fn the_line_with_headings_is_answered_at_the_question() {
    let world = world();
    let text = "2026-11-01,Oak,5.50\n2026-11-02,Elm,6.50\n2026-11-02,Oak,7.25\n";
    let file = file(&world, "spend.csv", text);
    let mut terminal = Terminal::start(&world, &["data", "add", &file]);
    for (line, awaited) in [("first\n", "Which line has the headings?"), ("1\n", "Answer")] {
        terminal.pass(awaited);
        terminal.pass("(! stops): ");
        terminal.type_in(line);
    }
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_says(&seen, &["headings in line 1"]);
    assert_eq!(cell(&query(&world, "SELECT count(*) FROM spend"), 0, 0), "2");
}

#[test]
fn a_file_without_a_readable_row_makes_no_source() {
    let world = world();
    let file = file(&world, "spend.csv", "Day,Campaign,Cost\nsoon,Oak,5\nlater,Oak,6\n");
    for more in [&[][..], &["--skip-rejected"], &["--answer", "rejected=skip"]] {
        let ran = at_a_terminal(&world, &[&["add", &file, "--set", "Day=day"], more].concat());
        let ran = ran.ends_with(1);
        assert_says(&ran.out, &["No row of spend.csv can be read", "line 2", "Nothing was stored"]);
    }
    let sources = run(&world, &["list", "--json"]).ends_with(0).json();
    assert_eq!(sources["sources"], serde_json::json!([]));
}

#[test]
fn the_name_of_a_source_is_never_cut() {
    let world = world();
    let name = "paid_search_and_display_of_all_regions_of_the_north";
    // No total line confirms the sum.
    let text = "Day,Campaign,Clicks\n2026-11-01,Oak,5\n2026-11-02,Oak,7\n";
    let file = file(&world, "november.csv", text);
    at_a_terminal(&world, &["add", &file, "--name", name]).ends_with(0);
    let ran = at_a_terminal(&world, &["list"]).ends_with(0);
    assert_says(&ran.out, &[name, "Not shown: ", "--json"]);
    let ran = run(&world, &["measure", r#"{"measures": ["clicks"]}"#]).ends_with(0);
    assert_says(&ran.err, &["not approved yet", &format!("csign data approve {name}")]);
    assert!(!ran.err.contains("NAME"), "{}", ran.err);
}

#[test]
fn an_answer_to_a_question_that_there_is_not_is_refused_and_names_the_open_ones() {
    let world = world();
    let file = with_vanished(&world);
    let ran = at_a_terminal(&world, &["add", &file, "--answer", "vanish=replace"]).ends_with(1);
    assert_says(&ran.out, &["There is no question vanish.", "The open questions are: vanished."]);
    let rows = query(&world, "SELECT count(*) FROM paid_search_all_regions");
    assert_eq!(cell(&rows, 0, 0), "9", "nothing was stored");
}
