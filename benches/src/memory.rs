//! Measures a search among 100,000 long-term memories by words and by vectors, compared with the
//! full text search alone and with a plain loop over all vectors in one piece of memory.

use std::sync::Arc;
use std::time::Duration;

use contract::{MemoryEntry, MemoryId, MemoryKind};
use embedding::CharacterNgrams;
use engine::ports::{Embedder as _, LongTermMemories as _, MemoryReach, MemoryVector};
use store::SqliteStore;

use crate::Outcome;
use crate::measure::best;
use crate::table;

const MEMORIES: usize = 100_000;
/// The number of memories that are stored at the same time.
const CHUNK: usize = 500;
const QUESTIONS: usize = 30;
const CANDIDATES: u32 = 50;

pub(crate) async fn report() -> Outcome {
    let folder = tempfile::tempdir()?;
    let clock = Arc::new(host::SystemClock);
    let store = SqliteStore::open(&folder.path().join("countersign.db"), clock)?.store;
    let model = CharacterNgrams::default();
    for first in (0..MEMORIES).step_by(CHUNK) {
        let mut chunk = Vec::with_capacity(CHUNK);
        for number in first..first + CHUNK {
            let text = text(number, 12);
            model.learn(&text);
            let values = model.embed_memory(&text).await?;
            chunk.push((entry(number, text), MemoryVector { model: model.model().id, values }));
        }
        let stored = chunk.iter().map(|(memory, vector)| store.entry_add(memory, Some(vector)));
        for stored in futures::future::join_all(stored).await {
            stored?;
        }
    }
    let mut questions = Vec::new();
    for number in 0..QUESTIONS {
        let text = text(number * 31 + 7, 6);
        let values = model.embed_question(&text).await?;
        let words = text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        questions.push((text, words, MemoryVector { model: model.model().id, values }));
    }
    let reach = MemoryReach::Everything;
    let start = std::time::Instant::now();
    store.entries_by_vector(&questions[0].2, &reach, CANDIDATES).await?;
    let first = start.elapsed();
    let (mut words_alone, mut vectors_alone, mut both) = (vec![], vec![], vec![]);
    for (text, words, vector) in &questions {
        let start = std::time::Instant::now();
        store.entries_by_words(words, &reach, CANDIDATES).await?;
        words_alone.push(start.elapsed());
        let start = std::time::Instant::now();
        store.entries_by_vector(vector, &reach, CANDIDATES).await?;
        vectors_alone.push(start.elapsed());
        let start = std::time::Instant::now();
        let values = model.embed_question(text).await?;
        let vector = MemoryVector { model: model.model().id, values };
        let (by_words, by_vector) = tokio::join!(
            store.entries_by_words(words, &reach, CANDIDATES),
            store.entries_by_vector(&vector, &reach, CANDIDATES)
        );
        by_words?;
        by_vector?;
        both.push(start.elapsed());
    }
    let plain = plain_loop(&questions[0].2.values);
    let both = median(both);
    let row = |name: &str, time: Duration| {
        vec![name.to_owned(), table::time(time), table::ratio(both, time)]
    };
    let rows = [
        row("words and vectors", both),
        row("full text search alone", median(words_alone)),
        row("vectors alone", median(vectors_alone)),
        row("plain loop over all vectors", plain),
        row("first search, which reads all vectors", first),
    ];
    let head = ["search", "time", "words and vectors / this"];
    table::print("Search among 100,000 memories (aim: 50 ms)", &head, &rows);
    Ok(())
}

/// Measures the dot products of a vector with as many others in one piece of memory.
fn plain_loop(wanted: &[f32]) -> Duration {
    let all: Vec<f32> = (0..MEMORIES).flat_map(|_| wanted.iter().copied()).collect();
    best(5, || {
        let rows = all.chunks_exact(wanted.len());
        let product = |row: &[f32]| row.iter().zip(wanted).map(|(a, b)| a * b).sum::<f32>();
        rows.map(product).fold(0.0_f32, f32::max)
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn entry(number: usize, text: String) -> MemoryEntry {
    MemoryEntry {
        id: MemoryId(format!("m{number}")),
        session: None,
        kind: MemoryKind::Note,
        text,
        sources: Vec::new(),
        pinned: false,
        untrusted: false,
        local_only: false,
        created_at: chrono::DateTime::UNIX_EPOCH,
        edited_at: None,
    }
}

/// Returns a text of made-up words. Few words are common, as in a language.
fn text(number: usize, words: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ko", "ri", "ten", "mu", "sol", "va", "ner", "lit", "o", "kam", "pe", "stra", "dy",
        "fin", "gel",
    ];
    let mut state = number as u64 * 2_654_435_761 + 12_345;
    let mut next = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut out = Vec::with_capacity(words);
    for _ in 0..words {
        // The smallest of three numbers is used, so that small numbers are common.
        let mut word = next(20_000).min(next(20_000)).min(next(20_000)) as usize + 16;
        let mut spelled = String::new();
        while word > 0 {
            spelled.push_str(SYLLABLES[word % 16]);
            word /= 16;
        }
        out.push(spelled);
    }
    out.join(" ")
}
