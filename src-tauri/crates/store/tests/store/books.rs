//! Tests of the ledger in a real file: concurrent calls cannot exceed a cap, reservations survive a
//! crash, and ids are claimed once.

use std::sync::Arc;

use chrono::{NaiveDate, TimeDelta};
use engine::ports::{
    Books as _, Cap, Claim, ReservationRequest, Reserved, RunKey, Scope, Sessions as _, Settlement,
    TokenPrice,
};
use rusqlite::Connection;

use crate::world::{World, instant};

const NOW: &str = "2026-11-21T10:00:00Z";

fn day(n: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, n).unwrap()
}

fn wish(turn: &str) -> ReservationRequest {
    ReservationRequest {
        session: "s".into(),
        turn: turn.into(),
        at: instant(NOW),
        day: day(21),
        model: "m".into(),
        input_tokens: 100,
        output_tokens: 900,
        least_output: 900,
        price: Some(TokenPrice { input: 1, output: 2 }),
        caps: vec![Cap { scope: Scope::Day, tokens: Some(10_000), nano_usd: None }],
    }
}

fn entry(reserved: Reserved) -> i64 {
    match reserved {
        Reserved::Entry { id, .. } => id,
        Reserved::Refused(refusal) => panic!("refused: {refusal:?}"),
    }
}

#[tokio::test]
async fn concurrent_reservations_never_exceed_the_budget() {
    let world = World::new();
    let store = Arc::new(world.store());
    let asking = (0..40).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.spend_reserve(&wish(&format!("t{n}"))).await.unwrap() })
    });
    let mut granted = 0;
    for answer in asking.collect::<Vec<_>>() {
        granted += u32::from(matches!(answer.await.unwrap(), Reserved::Entry { .. }));
    }
    assert_eq!(granted, 10);
    let spent = store.spent(day(21)).await.unwrap();
    assert_eq!((spent.tokens, spent.calls), (10_000, 10));
}

#[tokio::test]
async fn a_reservation_counts_in_full_until_it_is_settled_once() {
    let world = World::new();
    let store = world.store();
    let first = entry(store.spend_reserve(&wish("t")).await.unwrap());
    entry(store.spend_reserve(&wish("t")).await.unwrap());
    let used =
        |input_tokens, output_tokens| Settlement { input_tokens, output_tokens, nano_usd: Some(7) };
    store.spend_settle(first, used(50, 10));
    store.spend_settle(first, used(0, 0));
    assert_eq!(
        store.spent(day(21)).await.unwrap().tokens,
        1_060,
        "what waits to be written counts for whoever looks"
    );
    let third = entry(store.spend_reserve(&wish("t")).await.unwrap());
    store.spend_settle(third, used(0, 0));
    drop(store);
    let store = world.store();
    let spent = store.spent(day(21)).await.unwrap();
    assert_eq!(
        (spent.tokens, spent.calls, spent.unpriced_calls),
        (1_060, 3, 0),
        "what was never settled stays, also after a crash"
    );
    assert_eq!(store.spent(day(20)).await.unwrap().calls, 3, "a day ahead counts, too");
    assert_eq!(store.spent(day(22)).await.unwrap().calls, 0);
    let unpriced = ReservationRequest { price: None, ..wish("u") };
    entry(store.spend_reserve(&unpriced).await.unwrap());
    assert_eq!(store.spent(day(21)).await.unwrap().unpriced_calls, 1);
}

#[tokio::test]
async fn a_budget_limit_applies_to_the_settled_usage() {
    for scope in [Scope::Run, Scope::Session, Scope::Day] {
        let world = World::new();
        let store = world.store();
        let capped = |day: NaiveDate| ReservationRequest {
            day,
            caps: vec![Cap { scope, tokens: Some(1_500), nano_usd: None }],
            ..wish("t")
        };
        let first = entry(store.spend_reserve(&capped(day(21))).await.unwrap());
        assert!(
            matches!(store.spend_reserve(&capped(day(21))).await, Ok(Reserved::Refused(refusal)) if refusal.used == 1_000),
            "{scope:?}: in full, until it is settled"
        );
        store.spend_settle(
            first,
            Settlement { input_tokens: 50, output_tokens: 10, nano_usd: Some(7) },
        );
        // A future day counts as today.
        entry(store.spend_reserve(&capped(day(20))).await.unwrap());
        assert!(
            matches!(store.spend_reserve(&capped(day(20))).await, Ok(Reserved::Refused(refusal)) if refusal.used == 1_060),
            "{scope:?}"
        );
        let elsewhere =
            ReservationRequest { session: "other".into(), turn: "other".into(), ..capped(day(22)) };
        entry(store.spend_reserve(&elsewhere).await.unwrap());
    }
}

#[tokio::test]
async fn deleting_a_session_removes_its_spending_but_not_that_of_the_day() {
    let world = World::new();
    let store = world.store();
    let capped = ReservationRequest {
        caps: vec![Cap { scope: Scope::Session, tokens: Some(1_500), nano_usd: None }],
        ..wish("t")
    };
    store.session_create(&capped.session, "t", instant(NOW)).await.unwrap();
    entry(store.spend_reserve(&capped).await.unwrap());
    assert!(matches!(store.spend_reserve(&capped).await, Ok(Reserved::Refused(_))));
    store.session_delete(&capped.session).await.unwrap();
    entry(store.spend_reserve(&capped).await.unwrap());
    assert_eq!(store.spent(day(21)).await.unwrap().tokens, 2_000);
}

#[tokio::test]
async fn the_spending_ledger_keeps_its_newest_entries_and_all_sums() {
    let world = World::new();
    let store = world.store();
    let ours = |n: u32| ReservationRequest {
        session: "ours".into(),
        caps: Vec::new(),
        ..wish(&format!("t{n}"))
    };
    let most = 22_000;
    for n in 0..most {
        let id = entry(store.spend_reserve(&ours(n)).await.unwrap());
        store.spend_settle(id, Settlement { input_tokens: 1, output_tokens: 1, nano_usd: None });
    }
    let spent = store.spent(day(21)).await.unwrap();
    assert_eq!(
        (spent.tokens, spent.calls, spent.unpriced_calls),
        (2 * u64::from(most), most, most)
    );
    drop(store);
    let kept: u32 = Connection::open(world.db())
        .unwrap()
        .query_row("SELECT COUNT(*) FROM spending", [], |row| row.get(0))
        .unwrap();
    assert!((20_000..=21_000).contains(&kept), "{kept}");
}

#[tokio::test]
async fn a_run_id_can_be_claimed_once_until_it_expires() {
    let world = World::new();
    let store = world.store();
    let key = RunKey { caller: "c".into(), request: "r".into() };
    let now = instant(NOW);
    assert_eq!(store.run_claim(&key, now).await, Ok(Claim::New));
    assert_eq!(store.run_claim(&key, now).await, Ok(Claim::Running));
    store.run_end(&key, None).await.unwrap();
    assert_eq!(store.run_claim(&key, now).await, Ok(Claim::New));
    store.run_end(&key, Some("{}")).await.unwrap();
    drop(store);
    let store = world.store();
    store.mark_runs_interrupted().await.unwrap();
    assert_eq!(store.run_claim(&key, now).await, Ok(Claim::Stored("{}".into())));
    let later = now + TimeDelta::hours(25);
    assert_eq!(store.run_claim(&key, later).await, Ok(Claim::Stored("{}".into())));
    store.runs_forget(later - TimeDelta::hours(24)).await.unwrap();
    assert_eq!(store.run_claim(&key, later).await, Ok(Claim::New));
    store.runs_forget(later).await.unwrap();
    assert_eq!(store.run_claim(&key, later).await, Ok(Claim::Running), "it is not over");
    store.mark_runs_interrupted().await.unwrap();
    assert_eq!(store.run_claim(&key, later).await, Ok(Claim::Interrupted));
}
