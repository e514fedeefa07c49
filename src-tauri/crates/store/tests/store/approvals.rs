//! Tests of approvals: the order of the list, the fields that a decision keeps, and that exactly
//! one of many concurrent decisions succeeds.

use std::sync::Arc;

use contract::ApprovalStatus::{Approved, Cancelled, Done, Executing, Expired, Pending, Rejected};
use contract::{Approval, ApprovalId, ApprovalStatus, SessionId, Transition};
use engine::ports::{
    Approvals as _, Loaded, Moved, Reach, SessionImage, Sessions as _, SharedSessions, StoreError,
};

use crate::world::{World, instant, pending, with_session};

#[tokio::test]
async fn a_decision_is_stored_with_its_reason_and_time() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    let proposal = pending("a1", &session, "2026-11-21T10:00:00Z");
    store.approval_insert(&proposal).await.expect("inserted");
    assert_eq!(store.approval(&proposal.id).await, Ok(Some(proposal.clone())));
    let (decided, later) = (instant("2026-11-21T10:01:00Z"), instant("2026-11-21T10:02:00Z"));
    assert_eq!(
        store
            .approval_move(&proposal.id, Transition { from: Pending, to: Approved }, None, decided)
            .await,
        Ok(true)
    );
    assert_eq!(
        store
            .approval_move(
                &proposal.id,
                Transition { from: Pending, to: Rejected },
                Some("no"),
                later
            )
            .await,
        Ok(false),
        "it is not pending any more"
    );
    assert_eq!(
        store
            .approval_move(&proposal.id, Transition { from: Approved, to: Executing }, None, later)
            .await,
        Ok(true)
    );
    assert_eq!(
        store
            .approval_move(
                &proposal.id,
                Transition { from: Executing, to: Done },
                Some("ran"),
                later
            )
            .await,
        Ok(true)
    );
    drop(store);
    let read = world.store().approval(&proposal.id).await.expect("read").expect("there");
    assert_eq!(
        (read.status, read.reason.as_deref(), read.decided_at),
        (Done, Some("ran"), Some(decided))
    );
    assert_eq!(read.arguments, proposal.arguments);
}

#[tokio::test]
async fn a_finished_approval_cannot_change_its_status() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    store
        .approval_insert(&pending("a1", &session, "2026-11-21T10:00:00Z"))
        .await
        .expect("inserted");
    let at = instant("2026-11-21T10:20:00Z");
    assert_eq!(
        store
            .approval_move(
                &"a1".into(),
                Transition { from: Pending, to: Expired },
                Some("time ran out"),
                at
            )
            .await,
        Ok(true)
    );
    let back = store
        .approval_move(&"a1".into(), Transition { from: Expired, to: Pending }, None, at)
        .await;
    assert_eq!(back, Err(StoreError::Failed("an approval that is expired stays so".into())));
    assert_eq!(
        store
            .approval_move(&"none".into(), Transition { from: Pending, to: Expired }, None, at)
            .await,
        Ok(false)
    );
}

#[tokio::test]
async fn an_approval_without_a_session_can_be_stored() {
    let world = World::new();
    let store = world.store();
    let outside = pending("a1", &"direct".into(), "2026-11-21T10:00:00Z");
    store.approval_insert(&outside).await.expect("inserted");
    assert_eq!(store.approvals(false).await, Ok(vec![outside]));
}

#[tokio::test]
async fn approvals_are_listed_undecided_first_and_then_newest_first() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    for n in 1..=5 {
        store
            .approval_insert(&pending(
                &format!("a{n}"),
                &session,
                &format!("2026-11-21T10:0{n}:00Z"),
            ))
            .await
            .expect("inserted");
    }
    let at = instant("2026-11-21T10:20:00Z");
    for (id, to) in [("a5", Rejected), ("a3", Approved), ("a1", Cancelled)] {
        assert_eq!(
            store.approval_move(&id.into(), Transition { from: Pending, to }, None, at).await,
            Ok(true)
        );
    }
    let ids = async |all| {
        store.approvals(all).await.expect("listed").into_iter().map(|a| a.id.0).collect::<Vec<_>>()
    };
    assert_eq!(ids(false).await, ["a4", "a2", "a3"]);
    assert_eq!(ids(true).await, ["a4", "a2", "a3", "a5", "a1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_several_concurrent_decisions_exactly_one_is_stored() {
    let world = World::new();
    let store = Arc::new(world.store());
    let session = with_session(&store, "s").await;
    for round in 0..20 {
        let id = format!("a{round}");
        store
            .approval_insert(&pending(&id, &session, "2026-11-21T10:00:00Z"))
            .await
            .expect("inserted");
        let deciders: Vec<_> = (0..32)
            .map(|n| {
                let (store, id) = (Arc::clone(&store), id.clone());
                tokio::spawn(async move {
                    let to = if n % 2 == 0 { Approved } else { Rejected };
                    let won = store
                        .approval_move(
                            &id.into(),
                            Transition { from: Pending, to },
                            Some(&format!("decider {n}")),
                            instant("2026-11-21T10:01:00Z"),
                        )
                        .await;
                    won.expect("moved or not").then_some((to, format!("decider {n}")))
                })
            })
            .collect();
        let mut winners = Vec::new();
        for decider in deciders {
            winners.extend(decider.await.expect("no panic"));
        }
        let [(status, reason)] = winners.as_slice() else {
            panic!("exactly one wins, not {winners:?}")
        };
        let read = store.approval(&id.into()).await.expect("read").expect("there");
        assert_eq!((read.status, read.reason.as_ref()), (*status, Some(reason)));
    }
}

#[tokio::test]
async fn the_newest_approval_of_a_session_is_the_last_inserted_regardless_of_clocks() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    for (id, at) in [
        ("b", "2026-11-21T12:00:40Z"),
        ("a", "2026-11-21T12:00:20Z"),
        ("c", "2026-11-21T12:00:20Z"),
    ] {
        store.approval_insert(&pending(id, &session, at)).await.expect("inserted");
    }
    let newest: Vec<String> = store
        .approvals_of(&session, 2)
        .await
        .expect("read")
        .into_iter()
        .map(|approval| approval.id.0)
        .collect();
    assert_eq!(newest, ["c", "a"]);
}

#[tokio::test]
async fn all_open_and_overdue_approvals_are_found() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    let now = instant("2026-11-21T10:30:00.5Z");
    store
        .approval_insert(&pending("first", &session, "2026-11-21T10:00:00Z"))
        .await
        .expect("inserted");
    store
        .approval_move(&"first".into(), Transition { from: Pending, to: Approved }, None, now)
        .await
        .expect("moved");
    store
        .approval_move(&"first".into(), Transition { from: Approved, to: Executing }, None, now)
        .await
        .expect("moved");
    for n in 0..1_100 {
        let mut approval = pending(&format!("a{n}"), &session, "2026-11-21T10:01:00Z");
        approval.expires_at = if n == 0 {
            instant("2026-11-21T10:30:00.4Z")
        } else {
            instant("2026-11-21T10:30:00.6Z")
        };
        store.approval_insert(&approval).await.expect("inserted");
    }
    let open = store.approvals_open().await.expect("read");
    assert_eq!((open.len(), open[0].id.as_str(), open[0].status), (1_101, "first", Executing));
    let overdue: Vec<String> = store
        .approvals_overdue(now)
        .await
        .expect("read")
        .into_iter()
        .map(|approval| approval.id.0)
        .collect();
    assert_eq!(overdue, ["a0"]);
}

/// A shared store that has lost its last transition.
struct ForgetfulStore(Moved);

#[async_trait::async_trait]
impl SharedSessions for ForgetfulStore {
    async fn lock(&self, _: &SessionId, _: &str) -> Result<bool, StoreError> {
        Ok(true)
    }
    async fn unlock(&self, _: &SessionId, _: &str) -> Result<(), StoreError> {
        Ok(())
    }
    async fn load(&self, _: &SessionId, _: &[&str]) -> Result<Loaded, StoreError> {
        Ok(Loaded::Nothing)
    }
    async fn save(&self, _: &SessionImage, _: &str) -> Result<bool, StoreError> {
        Ok(true)
    }
    async fn remove(&self, _: &SessionId) -> Result<(), StoreError> {
        Ok(())
    }
    async fn approval_put(&self, _: &ApprovalId) -> Result<(), StoreError> {
        Ok(())
    }
    async fn approval_move(
        &self,
        _: &ApprovalId,
        transition: Transition,
    ) -> Result<Moved, StoreError> {
        Ok(if transition.from == Executing { self.0 } else { Moved::Yes })
    }
    async fn approval_status(&self, _: &ApprovalId) -> Result<Option<ApprovalStatus>, StoreError> {
        Ok(None)
    }
}

#[tokio::test]
async fn an_action_run_here_ends_here_even_if_the_shared_store_lost_its_state() {
    let at = instant("2026-11-21T10:01:00Z");
    for (found, moved, stands) in [
        (Moved::No(Pending), true, Done),
        (Moved::No(Approved), true, Done),
        (Moved::Gone, true, Done),
        (Moved::No(Rejected), false, Rejected),
    ] {
        let world = World::new();
        let store = world.store().sharing(Some(Arc::new(ForgetfulStore(found))));
        let session = with_session(&store, "shop:s").await;
        store
            .approval_insert(&pending("a1", &session, "2026-11-21T10:00:00Z"))
            .await
            .expect("inserted");
        for (from, to) in [(Pending, Approved), (Approved, Executing)] {
            assert_eq!(
                store.approval_move(&"a1".into(), Transition { from, to }, None, at).await,
                Ok(true)
            );
        }
        assert_eq!(
            store
                .approval_move(&"a1".into(), Transition { from: Executing, to: Done }, None, at)
                .await,
            Ok(moved),
            "{found:?}"
        );
        assert_eq!(
            store.approval(&"a1".into()).await.expect("read").expect("there").status,
            stands,
            "{found:?}"
        );
    }
}

#[tokio::test]
async fn shared_approvals_stay_recognisable_after_sharing_is_switched_off() {
    let world = World::new();
    let store = world.store().sharing(Some(Arc::new(ForgetfulStore(Moved::Yes))));
    let (theirs, own) = (with_session(&store, "shop:s").await, with_session(&store, "s").await);
    let (shared, alone) = (
        pending("a1", &theirs, "2026-11-21T10:00:00Z"),
        pending("a2", &own, "2026-11-21T10:00:00Z"),
    );
    let came = pending("a3", &theirs, "2026-11-21T10:01:00Z");
    let known = pending("a4", &theirs, "2026-11-21T10:01:00Z");
    let done = Approval {
        status: Done,
        reason: Some("ran".into()),
        decided_at: Some(instant("2026-11-21T10:02:00Z")),
        ..known.clone()
    };
    for approval in [&shared, &alone, &known] {
        store.approval_insert(approval).await.expect("inserted");
    }
    let image = SessionImage {
        rev: "r".into(),
        session: theirs.clone(),
        title: "T".into(),
        created_at: instant("2026-11-21T10:00:00Z"),
        items: Vec::new(),
        values: engine::ports::SessionValues::new(),
        approvals: vec![came.clone(), done],
        memories: Vec::new(),
    };
    let ended = store.import_session_image(&image, "elsewhere").await.expect("adopted");
    let ended: Vec<_> = ended
        .iter()
        .map(|approval| (approval.id.as_str(), approval.status, approval.reason.as_deref()))
        .collect();
    assert_eq!(
        ended,
        [("a4", Done, Some("ran")), ("a1", Expired, Some("elsewhere"))],
        "what ended is told, and what did not come along"
    );
    assert_eq!(
        (store.approval_reach(&shared).await, store.approval_reach(&alone).await),
        (Ok(Reach::Everywhere), Ok(Reach::Here))
    );
    drop(store);
    let store = world.store();
    for (approval, reach) in
        [(&shared, Reach::HereAlone), (&came, Reach::HereAlone), (&alone, Reach::Here)]
    {
        assert_eq!(store.approval_reach(approval).await, Ok(reach), "{}", approval.id);
    }
}
