//! Tests of names, days and choices in requests to a pack, with a pack that exists only here.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::world::now;
use crate::{OfflineModel, OfflinePack};

fn model() -> OfflineModel {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tests/packs");
    let loaded = packs::load(&[folder]).into_iter();
    let pack = |loaded: packs::LoadedPack| {
        let pack = loaded.pack.unwrap_or_else(|| panic!("{:#?}", loaded.view));
        OfflinePack::new(pack.manifest, pack.tools)
    };
    OfflineModel::new(loaded.map(pack).collect())
}

#[test]
fn names_days_and_choices_fill_their_arguments() {
    let (model, october) = (model(), json!({"from": "2026-10-01", "until": "2026-10-31"}));
    let with = |more: Value| {
        let mut arguments = october.clone();
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    for (text, wanted) in [
        ("bookings of Kiruna in october", vec![with(json!({"room": "12", "site": "north"}))]),
        (
            "bookings of Kiruna and Abisko in october",
            vec![with(json!({"room": "12", "site": "north"})), with(json!({"room": "14"}))],
        ),
        ("bookings of room 99", vec![json!({"room": "99"})]),
        ("confirmed bookings of Abisko", vec![json!({"room": "14", "state": "confirmed"})]),
        (
            "bookings of K12 that are not confirmed",
            vec![json!({"room": "12", "site": "north", "state": "open"})],
        ),
    ] {
        let goals = model.explain(text, now(), "Europe/Stockholm", None).goals;
        let arguments: Vec<Value> = goals.iter().map(|goal| json!(goal.arguments)).collect();
        assert_eq!(arguments, wanted, "{text}: {goals:?}");
        assert!(goals.iter().all(|goal| goal.doubt.is_none()), "{text}: {goals:?}");
    }
}

#[test]
fn a_name_or_word_that_nothing_uses_stops_the_answer() {
    let model = model();
    for (text, doubt) in [
        ("bookings of Narvik", "unknown_name: Narvik"),
        ("bookings of all rooms", "unused: all, rooms"),
        ("bookings by floor", "unused: by floor"),
    ] {
        let goals = model.explain(text, now(), "Europe/Stockholm", None).goals;
        let [goal] = goals.as_slice() else { panic!("{text}: {goals:?}") };
        assert_eq!(goal.doubt.as_deref(), Some(doubt), "{text}");
    }
}
