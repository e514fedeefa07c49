//! Tests the index of memories: a change of the model, work in the background, and an embedding
//! server under the rules of model calls.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use async_trait::async_trait;
use contract::*;
use engine::ports::*;
use futures::future::BoxFuture;

use crate::world::Bench;

/// A server whose vectors are computed from the letters of a text.
struct LetterServer {
    name: &'static str,
    local: bool,
    fails: AtomicBool,
    /// Whether the server never answers.
    hangs: AtomicBool,
    /// The number of calls that will still succeed.
    left: AtomicU32,
    sent: Mutex<Vec<String>>,
}

impl LetterServer {
    fn new(name: &'static str, local: bool) -> Arc<Self> {
        let (fails, hangs) = (AtomicBool::new(false), AtomicBool::new(false));
        let left = AtomicU32::new(u32::MAX);
        Arc::new(Self { name, local, fails, hangs, left, sent: Mutex::default() })
    }

    fn take_sent(&self) -> Vec<String> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }
}

fn letters(text: &str) -> Vec<f32> {
    let mut values = vec![0.0; 26];
    for c in text.to_lowercase().chars().filter(char::is_ascii_lowercase) {
        values[c as usize - 'a' as usize] += 1.0;
    }
    values
}

#[async_trait]
impl EmbeddingServer for LetterServer {
    fn id(&self) -> EmbeddingModelId {
        EmbeddingModelId(self.name.into())
    }
    fn label(&self) -> String {
        format!("{} at letters.example", self.name)
    }
    fn is_local(&self) -> bool {
        self.local
    }
    fn description(&self) -> Text {
        "Counts letters.".into()
    }
    fn prepare_call(&self) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
    async fn embed(&self, texts: Vec<Outbound>, _: TextRole) -> Result<Embedded, ModelError> {
        assert!(texts.len() <= MOST_TEXTS);
        let left = self.left.load(Ordering::SeqCst);
        if self.fails.load(Ordering::SeqCst) || left == 0 {
            return Err(ModelError {
                kind: ModelErrorKind::Unavailable,
                message: "letters.example did not answer.".into(),
                hint: None,
                retry_after_ms: None,
                said: None,
            });
        }
        if texts.iter().any(|text| text.as_str().contains("unreadable")) {
            return Err(ModelError {
                kind: ModelErrorKind::BadRequest,
                message: "One text is too long.".into(),
                hint: None,
                retry_after_ms: None,
                said: None,
            });
        }
        self.left.store(left - 1, Ordering::SeqCst);
        self.sent.lock().unwrap().extend(texts.iter().map(|text| text.as_str().to_owned()));
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        let vectors = texts.iter().map(|text| letters(text.as_str())).collect();
        Ok(Embedded { vectors, input_tokens: 10 })
    }
}

fn choose(bench: &Bench, server: &Arc<LetterServer>) {
    *bench.embedder.server.lock().unwrap() = Some(Arc::clone(server) as _);
}

fn allow_cloud(bench: &Bench) {
    bench.profile.settings.lock().unwrap().egress.allowed = true;
}

async fn note(bench: &Bench, text: &str) -> MemoryEntry {
    let params = MemoryAddParams { text: text.into(), session: None };
    bench.engine.memories.add(&params).await.unwrap()
}

/// Waits until the background work has ended. Requesting the status starts the work.
async fn status_when_idle(bench: &Bench) -> MemoryIndexView {
    loop {
        let status = bench.engine.memories.index.status().await.unwrap();
        if !status.working {
            return bench.engine.memories.index.status().await.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

async fn search(bench: &Bench, text: &str) -> Vec<MemoryHit> {
    let params = MemorySearchParams { text: text.into(), session: None, limit: 0 };
    bench.engine.memories.search(&params).await.unwrap().hits
}

async fn embedding_records(bench: &Bench) -> Vec<AuditRecordView> {
    let params = AuditListParams {
        record_type: Some(RecordType::ModelCall),
        session: None,
        query: String::new(),
        before: None,
        limit: 100,
    };
    bench.log.log.list(params).await.unwrap().records
}

#[tokio::test]
async fn a_new_embedding_model_indexes_all_memories_except_deleted_ones() {
    let bench = Bench::new(vec![]);
    allow_cloud(&bench);
    let gone = note(&bench, "zzz zebra").await;
    note(&bench, "Account 17 reports in CET").await;
    let built_in = status_when_idle(&bench).await;
    assert_eq!((built_in.memories, built_in.indexed, built_in.working), (2, 2, false));
    assert_eq!(built_in.dimension, 1_024);
    bench.engine.memories.forget(&gone.id).await.unwrap();

    let server = LetterServer::new("letters", false);
    choose(&bench, &server);
    let status = status_when_idle(&bench).await;
    assert_eq!(status.model, "letters");
    assert_eq!((status.memories, status.indexed, status.dimension), (1, 1, 26));
    assert!(status.threshold > 0.3, "calibrated with texts of the program: {status:?}");
    let sent = server.take_sent();
    assert!(sent.iter().any(|text| text.contains("Account 17")));
    assert!(!sent.iter().any(|text| text.contains("zebra")), "what was deleted stays deleted");
    assert_eq!(search(&bench, "zebra").await, []);
    // Found only by its letters, because no word and no part of a word is the same.
    let found = search(&bench, "ccnutaoesropt rnicteo").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].similarity.is_some());

    // After switching back, the built-in model computes its vectors again.
    *bench.embedder.server.lock().unwrap() = None;
    let again = status_when_idle(&bench).await;
    assert_eq!((again.model, again.indexed), (built_in.model, 1));
    bench.verified().await;
}

#[tokio::test]
async fn interrupted_indexing_continues_where_it_stopped() {
    let mut bench = Bench::new(vec![]);
    allow_cloud(&bench);
    for n in 0..150 {
        note(&bench, &format!("memory number {n}")).await;
    }
    let server = LetterServer::new("letters", false);
    // The calls for the calibration texts and two batches.
    server.left.store(3, Ordering::SeqCst);
    choose(&bench, &server);
    let status = status_when_idle(&bench).await;
    assert_eq!((status.memories, status.indexed), (150, 128), "what was made is stored");
    assert_eq!(status.problem.as_ref().map(Text::as_str), Some("letters.example did not answer."));
    let sent = server.take_sent().len();
    // Memories without a vector are still found by words.
    assert_eq!(search(&bench, "number 149").await[0].memory.text, "memory number 149");
    // Opens the same database with another engine, like after a crash.
    server.left.store(u32::MAX, Ordering::SeqCst);
    bench.engine = engine::Engine::new(bench.world.clone());
    let status = status_when_idle(&bench).await;
    assert_eq!((status.indexed, status.problem), (150, None));
    assert_eq!(server.take_sent().len(), 22, "only those without a vector, after {sent}");
    // A new memory gets its vector without delaying the caller that stores it.
    note(&bench, "one more").await;
    assert_eq!(status_when_idle(&bench).await.indexed, 151);
    assert_eq!(server.take_sent(), ["one more"]);
}

#[tokio::test]
async fn the_built_in_model_indexes_many_memories_in_the_background() {
    let bench = Bench::new(vec![]);
    bench.embedder.fails.store(true, Ordering::SeqCst);
    let first = note(&bench, "memory about kangaroos").await;
    for n in 0..600 {
        let id = MemoryId(format!("m{n}"));
        let entry = MemoryEntry { id, text: format!("memory {n}"), ..first.clone() };
        bench.world.store.entry_add(&entry, None).await.unwrap();
    }
    bench.embedder.fails.store(false, Ordering::SeqCst);
    let status = bench.engine.memories.index.status().await.unwrap();
    assert!(status.working || status.indexed == 601, "{status:?}");
    assert_eq!(search(&bench, "kangaroos").await.len(), 1, "by its word meanwhile");
    let status = status_when_idle(&bench).await;
    assert_eq!((status.indexed, status.problem), (601, None));
    assert_eq!(search(&bench, "kangarooz").await.len(), 1, "by its vector");
}

#[tokio::test]
async fn a_remote_embedding_server_gets_redacted_texts_and_no_local_only_memories() {
    let bench = Bench::new(vec![]);
    let kept = note(&bench, "Write to ann@example.com about account 17").await;
    let local = MemoryEntry {
        id: "local".into(),
        text: "A local secret".into(),
        local_only: true,
        ..kept.clone()
    };
    bench.world.store.entry_add(&local, None).await.unwrap();
    bench.profile.settings.lock().unwrap().egress.allowed = false;
    let server = LetterServer::new("letters", false);
    choose(&bench, &server);
    let status = status_when_idle(&bench).await;
    let problem = status.problem.expect("cloud models are off");
    assert!(problem.as_str().contains("nothing may leave it"), "{problem:?}");
    assert_eq!(server.take_sent(), [""; 0], "nothing was sent");
    assert_eq!(search(&bench, "account 17").await.len(), 1, "words find it");
    assert_eq!(embedding_records(&bench).await, []);

    bench.clock.forward(61);
    allow_cloud(&bench);
    let status = status_when_idle(&bench).await;
    assert_eq!((status.memories, status.indexed), (1, 1), "{status:?}");
    search(&bench, "What does bob@example.com want?").await;
    let sent = server.take_sent();
    assert!(sent.iter().any(|text| text.contains("about account 17")));
    assert!(sent.iter().any(|text| text.contains("want?")));
    for text in &sent {
        assert!(!text.contains("@example.com") && !text.contains("local secret"), "{text}");
    }
    let records = embedding_records(&bench).await;
    assert_eq!(records.len(), 3, "the calibration, the memory and the question");
    for record in &records {
        assert_eq!(record.fields["purpose"], "embedding");
        assert_eq!(record.fields["tokens_in"], 10);
        assert_eq!(record.fields["status"], "ok");
    }
    bench.verified().await;

    // A server on this computer may read all memories.
    let here = LetterServer::new("letters here", true);
    bench.profile.settings.lock().unwrap().egress.allowed = false;
    choose(&bench, &here);
    assert_eq!(status_when_idle(&bench).await.indexed, 2);
    assert!(here.take_sent().iter().any(|text| text == "A local secret"));
}

#[tokio::test]
async fn the_daily_budget_limits_embeddings() {
    let bench = Bench::new(vec![]);
    allow_cloud(&bench);
    note(&bench, "Account 17 reports in CET").await;
    bench.profile.settings.lock().unwrap().budgets.day_tokens = 5;
    let server = LetterServer::new("letters", false);
    choose(&bench, &server);
    let status = status_when_idle(&bench).await;
    assert!(status.problem.is_some(), "{status:?}");
    assert_eq!(server.take_sent(), [""; 0]);
    assert_eq!(search(&bench, "account 17").await.len(), 1);
}

#[tokio::test]
async fn a_question_after_local_only_data_is_sent_to_no_remote_embedding_server() {
    let bench = Bench::new(vec![]);
    allow_cloud(&bench);
    note(&bench, "Account 17 reports in CET").await;
    for (is_local_server, is_local, is_sent) in
        [(false, false, true), (false, true, false), (true, true, true)]
    {
        let server =
            LetterServer::new(if is_local_server { "here" } else { "there" }, is_local_server);
        choose(&bench, &server);
        status_when_idle(&bench).await;
        server.take_sent();
        let content = TurnContent { model_is_local: true, is_local, ..TurnContent::default() };
        let (text, session) = ("the secret plan of account 17", SessionId::from("s"));
        let found = bench.engine.memories.recall(text, &session, content).await.unwrap();
        assert_eq!(found.len(), 1, "words still find it");
        let sent = server.take_sent();
        assert_eq!(sent.iter().any(|text| text.contains("secret plan")), is_sent, "{sent:?}");
    }
}

#[tokio::test]
async fn a_text_that_the_embedding_server_refuses_does_not_stop_the_others() {
    let bench = Bench::new(vec![]);
    allow_cloud(&bench);
    for n in 0..100 {
        note(&bench, &format!("memory number {n}")).await;
    }
    note(&bench, "an unreadable memory").await;
    choose(&bench, &LetterServer::new("letters", false));
    let status = status_when_idle(&bench).await;
    assert_eq!((status.memories, status.indexed, status.problem), (101, 100, None));
}

#[tokio::test]
async fn a_call_to_an_embedding_server_that_never_answers_is_recorded() {
    let bench = Bench::new(vec![]);
    allow_cloud(&bench);
    note(&bench, "Account 17 reports in CET").await;
    let server = LetterServer::new("letters", false);
    choose(&bench, &server);
    status_when_idle(&bench).await;
    bench.log.log.flush().await.unwrap();
    let before = embedding_records(&bench).await.len();
    server.hangs.store(true, Ordering::SeqCst);
    assert_eq!(search(&bench, "account 17").await.len(), 1, "words find it");
    bench.log.log.flush().await.unwrap();
    let records = embedding_records(&bench).await;
    assert_eq!(records.len(), before + 1);
    assert_eq!(records[0].fields["status"], "error");
}
