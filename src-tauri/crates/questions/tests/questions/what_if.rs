//! Tests of assumptions over sources that have no plan: they are declined by name, and no ordinary question
//! is read as one.

use questions::{Declined, Outcome};

use crate::support::{shared, shown};

#[test]
fn an_assumption_over_a_source_without_a_plan_is_declined_by_name() {
    for (text, words) in [
        ("what if the budget was raised by 10% in budgetark", "what if"),
        ("assuming a spend of 5000 for Spa Weekends", "assuming"),
        ("vad händer om intäkterna ökar med 10 % i webshop orders", "vad händer om"),
    ] {
        match shared().read(text) {
            Outcome::Declined { by: Declined::WhatIf, at } => assert_eq!(&text[at], words),
            other => panic!("{text}: {}", shown(&other, text)),
        }
    }
}

#[test]
fn a_text_that_tells_to_change_an_amount_is_declined_by_name() {
    for text in ["set the spend of Spa Weekends to 300k", "sänk budgeten till 200 000"] {
        let found = shared().read(text);
        let is_told = matches!(found, Outcome::Declined { by: Declined::Instruction, .. });
        assert!(is_told, "{text}: {}", shown(&found, text));
    }
}

#[test]
fn words_of_assumptions_change_no_ordinary_question() {
    for (text, other) in [
        ("tell me if spend increased in april", "did spend increase in april"),
        ("clicks for Spa Weekends, just set it in a table", "clicks for Spa Weekends in a table"),
        ("orders with discount over 100", "orders with discount over 100 please"),
    ] {
        let (found, wanted) = (shared().read(text), shared().read(other));
        let query = |outcome: &Outcome| match outcome {
            Outcome::One(reading) => Some(reading.query.clone()),
            _ => None,
        };
        assert_eq!(query(&found), query(&wanted), "{}", shown(&found, text));
    }
}
