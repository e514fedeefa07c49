//! Tests of periods and the days they mean. Today is Friday 20 November 2026.

use super::*;
use crate::tokens::tokens;

fn read(text: &str) -> String {
    let today = NaiveDate::from_ymd_opt(2026, 11, 20).expect("a day");
    let show = |day: Option<NaiveDate>| day.map_or_else(|| "?".to_owned(), |day| day.to_string());
    find_period(&tokens(text), today).map_or_else(
        || "none".to_owned(),
        |found| format!("{} {}", show(found.start), show(found.end)),
    )
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(text, days)| read(text) != *days)
        .map(|(text, days)| format!("{text}: {} instead of {days}", read(text)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn english_date_phrases_are_parsed() {
    check(&[
        ("this month", "2026-11-01 2026-11-30"),
        ("how is account 17 pacing this month?", "2026-11-01 2026-11-30"),
        ("last month", "2026-10-01 2026-10-31"),
        ("previous month", "2026-10-01 2026-10-31"),
        ("next month", "2026-12-01 2026-12-31"),
        ("this week", "2026-11-16 2026-11-22"),
        ("last week", "2026-11-09 2026-11-15"),
        ("the past week", "2026-11-14 2026-11-20"),
        ("last 14 days", "2026-11-07 2026-11-20"),
        ("over the last seven days", "2026-11-14 2026-11-20"),
        ("past 2 weeks", "2026-11-07 2026-11-20"),
        ("the last couple of weeks", "2026-11-07 2026-11-20"),
        ("last 3 months", "2026-08-21 2026-11-20"),
        ("last weekend", "2026-11-14 2026-11-15"),
        ("this quarter", "2026-10-01 2026-12-31"),
        ("last quarter", "2026-07-01 2026-09-30"),
        ("Q3", "2026-07-01 2026-09-30"),
        ("q3 2025", "2025-07-01 2025-09-30"),
        ("the third quarter of 2025", "2025-07-01 2025-09-30"),
        ("first week of november", "2026-11-01 2026-11-07"),
        ("the second week of october", "2026-10-08 2026-10-14"),
        ("the last 3 days of october", "2026-10-29 2026-10-31"),
        ("first half of october", "2026-10-01 2026-10-15"),
        ("second half of october", "2026-10-16 2026-10-31"),
        ("october to date", "2026-10-01 2026-11-20"),
        ("november so far", "2026-11-01 2026-11-20"),
        ("the week before last", "2026-11-02 2026-11-08"),
        ("first half of 2026", "2026-01-01 2026-06-30"),
        ("h1", "2026-01-01 2026-06-30"),
        ("this year", "2026-01-01 2026-12-31"),
        ("last year", "2025-01-01 2025-12-31"),
        ("in 2025", "2025-01-01 2025-12-31"),
        ("yesterday", "2026-11-19 2026-11-19"),
        ("today", "2026-11-20 2026-11-20"),
        ("the day before yesterday", "2026-11-18 2026-11-18"),
        ("since 1 october", "2026-10-01 2026-11-20"),
        ("since the 1st of october", "2026-10-01 2026-11-20"),
        ("since oct 1st", "2026-10-01 2026-11-20"),
        ("since monday", "2026-11-16 2026-11-20"),
        ("on monday", "2026-11-16 2026-11-16"),
        ("last friday", "2026-11-13 2026-11-13"),
        ("since the 1st", "2026-11-01 2026-11-20"),
        ("since october", "2026-10-01 2026-11-20"),
        ("since 2026-10-15", "2026-10-15 2026-11-20"),
        ("from october 15", "2026-10-15 2026-11-20"),
        ("in october", "2026-10-01 2026-10-31"),
        ("october", "2026-10-01 2026-10-31"),
        ("oct 2025", "2025-10-01 2025-10-31"),
        ("in december", "2025-12-01 2025-12-31"),
        ("next december", "2026-12-01 2026-12-31"),
        ("last november", "2025-11-01 2025-11-30"),
        ("in may", "2026-05-01 2026-05-31"),
        ("3/10–20/10", "2026-10-03 2026-10-20"),
        ("3/10 - 20/10", "2026-10-03 2026-10-20"),
        ("from 3/10 to 20/10", "2026-10-03 2026-10-20"),
        ("10/25", "2026-10-25 2026-10-25"),
        ("1/10/2026 to 31/10/2026", "2026-10-01 2026-10-31"),
        ("2026-10-01 to 2026-10-31", "2026-10-01 2026-10-31"),
        ("2026-10-01 - 2026-10-31", "2026-10-01 2026-10-31"),
        ("2026-10-01–2026-10-31", "2026-10-01 2026-10-31"),
        ("from 1 oct to 15 nov", "2026-10-01 2026-11-15"),
        ("between 1 october and 15 october", "2026-10-01 2026-10-15"),
        ("between 1 and 15 october", "2026-10-01 2026-10-15"),
        ("oct 1-15", "2026-10-01 2026-10-15"),
        ("1-15 oct", "2026-10-01 2026-10-15"),
        ("1st to 15th of october", "2026-10-01 2026-10-15"),
        ("october 1 to october 15 2025", "2025-10-01 2025-10-15"),
        ("from 15 november to 15 december", "2026-11-15 2026-12-15"),
        ("from december to january", "2025-12-01 2026-01-31"),
        ("from start of october to yesterday", "2026-10-01 2026-11-19"),
        ("since the beginning of the month", "2026-11-01 2026-11-20"),
        ("month to date", "2026-11-01 2026-11-20"),
        ("mtd", "2026-11-01 2026-11-20"),
        ("ytd", "2026-01-01 2026-11-20"),
        ("so far this month", "2026-11-01 2026-11-20"),
        ("this month so far", "2026-11-01 2026-11-20"),
        ("week 45", "2026-11-02 2026-11-08"),
        ("3 days ago", "2026-11-17 2026-11-17"),
        ("a week ago", "2026-11-13 2026-11-13"),
        ("until friday", "? 2026-11-20"),
        ("until 15 december", "? 2026-12-15"),
        ("until 15 october", "? 2026-10-15"),
        ("before 15 december", "? 2026-12-14"),
        ("before the end of the month", "? 2026-11-30"),
        ("innan slutet av månaden", "? 2026-11-30"),
        ("before the 15th of next month", "? 2026-12-14"),
        ("in the next 10 days", "2026-11-20 2026-11-30"),
        ("within two weeks", "2026-11-20 2026-12-04"),
        ("1.10.2026", "2026-10-01 2026-10-01"),
    ]);
}

#[test]
fn swedish_date_phrases_are_parsed() {
    check(&[
        ("före den 15:e nästa månad", "? 2026-12-14"),
        ("de kommande 10 dagarna", "2026-11-20 2026-11-30"),
        ("inom en vecka", "2026-11-20 2026-11-27"),
        ("den här månaden", "2026-11-01 2026-11-30"),
        ("denna månad", "2026-11-01 2026-11-30"),
        ("förra månaden", "2026-10-01 2026-10-31"),
        ("förra veckan", "2026-11-09 2026-11-15"),
        ("forra veckan", "2026-11-09 2026-11-15"),
        ("den här veckan", "2026-11-16 2026-11-22"),
        ("senaste veckan", "2026-11-14 2026-11-20"),
        ("de senaste 14 dagarna", "2026-11-07 2026-11-20"),
        ("senaste två veckorna", "2026-11-07 2026-11-20"),
        ("i oktober", "2026-10-01 2026-10-31"),
        ("sedan måndag", "2026-11-16 2026-11-20"),
        ("sen i måndags", "2026-11-16 2026-11-20"),
        ("i måndags", "2026-11-16 2026-11-16"),
        ("i går", "2026-11-19 2026-11-19"),
        ("igår", "2026-11-19 2026-11-19"),
        ("i förrgår", "2026-11-18 2026-11-18"),
        ("idag", "2026-11-20 2026-11-20"),
        ("i år", "2026-01-01 2026-12-31"),
        ("i fjol", "2025-01-01 2025-12-31"),
        ("förra året", "2025-01-01 2025-12-31"),
        ("sedan 1 oktober", "2026-10-01 2026-11-20"),
        ("sedan den 1:a oktober", "2026-10-01 2026-11-20"),
        ("från 1 okt till 15 okt", "2026-10-01 2026-10-15"),
        ("från 1 oktober till och med 15 oktober", "2026-10-01 2026-10-15"),
        ("mellan 1 och 15 oktober", "2026-10-01 2026-10-15"),
        ("1–15 oktober", "2026-10-01 2026-10-15"),
        ("kvartal 3", "2026-07-01 2026-09-30"),
        ("tredje kvartalet", "2026-07-01 2026-09-30"),
        ("förra kvartalet", "2026-07-01 2026-09-30"),
        ("första halvåret", "2026-01-01 2026-06-30"),
        ("vecka 45", "2026-11-02 2026-11-08"),
        ("v45", "2026-11-02 2026-11-08"),
        ("v. 45", "2026-11-02 2026-11-08"),
        ("hittills i år", "2026-01-01 2026-11-20"),
        ("hittills den här månaden", "2026-11-01 2026-11-20"),
        ("för två veckor sedan", "2026-11-06 2026-11-06"),
        ("förra helgen", "2026-11-14 2026-11-15"),
        ("sedan början av oktober", "2026-10-01 2026-11-20"),
        ("nästa månad", "2026-12-01 2026-12-31"),
        ("hur ligger konto 23 till förra veckan", "2026-11-09 2026-11-15"),
        ("till fredag", "? 2026-11-20"),
        ("under 2025", "2025-01-01 2025-12-31"),
    ]);
}

#[test]
fn text_without_a_date_phrase_gives_no_period() {
    for text in [
        "add two of the black trail shoes to my cart",
        "size 42",
        "account 17",
        "you may go",
        "the second one",
        "is it behind",
        "lägg till två i varukorgen",
        "jackets under 2000",
        "2 st",
    ] {
        assert_eq!(read(text), "none", "{text}");
    }
}

#[test]
fn a_past_period_is_moved_to_its_next_occurrence() {
    let today = NaiveDate::from_ymd_opt(2026, 11, 20).expect("a day");
    for (text, start) in [
        ("in december", "2026-12-01"),
        ("in december 2025", "2025-12-01"),
        ("last december", "2025-12-01"),
        ("on wednesday", "2026-11-25"),
        ("this month", "2026-11-01"),
    ] {
        let tokens = tokens(text);
        let found = find_period(&tokens, today).unwrap_or_else(|| panic!("{text}"));
        let moved = move_to_next_period(&tokens, &found, today).start.expect("a day");
        assert_eq!(moved.to_string(), start, "{text}");
    }
}
