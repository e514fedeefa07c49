//! Approvals: the order of the list, what a decision keeps, and that of many deciders exactly one wins.

use std::sync::Arc;

use contract::ApprovalStatus::{Approved, Cancelled, Done, Executing, Expired, Pending, Rejected};
use engine::ports::{Store as _, StoreError};

use crate::world::{World, instant, pending, with_session};

#[tokio::test]
async fn a_decision_keeps_its_reason_and_time() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    let proposal = pending("a1", &session, "2026-11-21T10:00:00Z");
    store.approval_insert(&proposal).await.expect("inserted");
    assert_eq!(store.approval(&proposal.id).await, Ok(Some(proposal.clone())));
    let (decided, later) = (instant("2026-11-21T10:01:00Z"), instant("2026-11-21T10:02:00Z"));
    assert_eq!(store.approval_move(&proposal.id, Pending, Approved, None, decided).await, Ok(true));
    assert_eq!(store.approval_move(&proposal.id, Pending, Rejected, Some("no"), later).await, Ok(false), "it is not pending any more");
    assert_eq!(store.approval_move(&proposal.id, Approved, Executing, None, later).await, Ok(true));
    assert_eq!(store.approval_move(&proposal.id, Executing, Done, Some("ran"), later).await, Ok(true));
    drop(store);
    let read = world.store().approval(&proposal.id).await.expect("read").expect("there");
    assert_eq!((read.status, read.reason.as_deref(), read.decided_at), (Done, Some("ran"), Some(decided)));
    assert_eq!(read.arguments, proposal.arguments);
}

#[tokio::test]
async fn what_is_final_stays() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    store.approval_insert(&pending("a1", &session, "2026-11-21T10:00:00Z")).await.expect("inserted");
    let at = instant("2026-11-21T10:20:00Z");
    assert_eq!(store.approval_move(&"a1".into(), Pending, Expired, Some("time ran out"), at).await, Ok(true));
    let back = store.approval_move(&"a1".into(), Expired, Pending, None, at).await;
    assert_eq!(back, Err(StoreError::Failed("an approval that is expired stays so".into())));
    assert_eq!(store.approval_move(&"none".into(), Pending, Expired, None, at).await, Ok(false));
}

#[tokio::test]
async fn a_call_outside_any_session_can_ask_too() {
    let world = World::new();
    let store = world.store();
    let outside = pending("a1", &"direct".into(), "2026-11-21T10:00:00Z");
    store.approval_insert(&outside).await.expect("inserted");
    assert_eq!(store.approvals(false).await, Ok(vec![outside]));
}

#[tokio::test]
async fn undecided_come_first_then_the_newest() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    for n in 1..=5 {
        store.approval_insert(&pending(&format!("a{n}"), &session, &format!("2026-11-21T10:0{n}:00Z"))).await.expect("inserted");
    }
    let at = instant("2026-11-21T10:20:00Z");
    for (id, to) in [("a5", Rejected), ("a3", Approved), ("a1", Cancelled)] {
        assert_eq!(store.approval_move(&id.into(), Pending, to, None, at).await, Ok(true));
    }
    let ids = async |all| store.approvals(all).await.expect("listed").into_iter().map(|a| a.id.0).collect::<Vec<_>>();
    assert_eq!(ids(false).await, ["a4", "a2", "a3"]);
    assert_eq!(ids(true).await, ["a4", "a2", "a3", "a5", "a1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_deciders_one_wins() {
    let world = World::new();
    let store = Arc::new(world.store());
    let session = with_session(&store, "s").await;
    for round in 0..20 {
        let id = format!("a{round}");
        store.approval_insert(&pending(&id, &session, "2026-11-21T10:00:00Z")).await.expect("inserted");
        let deciders: Vec<_> = (0..32)
            .map(|n| {
                let (store, id) = (Arc::clone(&store), id.clone());
                tokio::spawn(async move {
                    let to = if n % 2 == 0 { Approved } else { Rejected };
                    let won = store.approval_move(&id.into(), Pending, to, Some(&format!("decider {n}")), instant("2026-11-21T10:01:00Z")).await;
                    won.expect("moved or not").then_some((to, format!("decider {n}")))
                })
            })
            .collect();
        let mut winners = Vec::new();
        for decider in deciders {
            winners.extend(decider.await.expect("no panic"));
        }
        let [(status, reason)] = winners.as_slice() else { panic!("exactly one wins, not {winners:?}") };
        let read = store.approval(&id.into()).await.expect("read").expect("there");
        assert_eq!((read.status, read.reason.as_ref()), (*status, Some(reason)));
    }
}
