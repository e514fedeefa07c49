//! Measures the recall of long-term memories: 100 English and 100 Swedish questions, each about one
//! of 200 memories. See `tests/data/memory-recall/README.md`.

use std::{fmt, path::Path, sync::Arc, sync::atomic::Ordering};

use contract::{MemoryAddParams, MemorySearchParams};
use engine::ports::{Embedder, MemoryReach};

use crate::{folder_model::small_model, world::Bench};

/// The number of memories among which a question must find its memory.
const MOST: u32 = 5;

/// The pairs with which the threshold was chosen.
const CALIBRATION: &str = "memory-recall";
/// The pairs of an author who did not know the search.
const HELD_OUT: &str = "memory-recall/held-out";

struct Pair {
    memory: String,
    question: String,
    is_english: bool,
}

fn pairs(of: &str) -> Vec<Pair> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tests/data");
    let mut all = Vec::new();
    for file in ["en.tsv", "sv.tsv"] {
        let text = std::fs::read_to_string(data.join(of).join(file)).unwrap();
        for line in text.lines() {
            let (memory, question) = line.split_once('\t').unwrap();
            all.push(Pair {
                memory: memory.into(),
                question: question.into(),
                is_english: file == "en.tsv",
            });
        }
    }
    assert_eq!(all.len(), 200);
    all
}

/// The number of questions that found their memory.
#[derive(Clone, Copy, Default)]
struct Recall {
    english: u32,
    swedish: u32,
}

impl Recall {
    fn add(&mut self, pair: &Pair) {
        self.english += u32::from(pair.is_english);
        self.swedish += u32::from(!pair.is_english);
    }

    fn all(self) -> u32 {
        self.english + self.swedish
    }
}

impl fmt::Display for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { english, swedish } = self;
        write!(f, "{}/200 (English {english}/100, Swedish {swedish}/100)", self.all())
    }
}

async fn bench_with_memories(pairs: &[Pair], model: Option<Arc<dyn Embedder>>) -> Bench {
    let bench = Bench::new(vec![]);
    if let Some(model) = model {
        *bench.embedder.model.lock().unwrap() = model;
    }
    for pair in pairs {
        let params = MemoryAddParams { text: pair.memory.clone(), session: None };
        bench.engine.memories.add(&params).await.unwrap();
    }
    bench
}

/// Asks all questions and counts the questions whose memory is among the first five results.
async fn measure(bench: &Bench, pairs: &[Pair]) -> Recall {
    let mut recall = Recall::default();
    for pair in pairs {
        let params = MemorySearchParams { text: pair.question.clone(), session: None, limit: MOST };
        let found = bench.engine.memories.search(&params).await.unwrap().hits;
        if found.iter().any(|hit| hit.memory.text == pair.memory) {
            recall.add(pair);
        }
    }
    recall
}

/// Measures the full text search without any threshold, with every word of the question.
async fn measure_bare_full_text(bench: &Bench, pairs: &[Pair]) -> Recall {
    let mut recall = Recall::default();
    for pair in pairs {
        let lower = pair.question.to_lowercase();
        let words: Vec<String> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        let store = &bench.world.store;
        let found = store.entries_by_words(&words, &MemoryReach::Everything, MOST).await.unwrap();
        if found.iter().any(|memory| memory.text == pair.memory) {
            recall.add(pair);
        }
    }
    recall
}

async fn compare(of: &str, least: u32) {
    let pairs = pairs(of);
    let bench = bench_with_memories(&pairs, None).await;
    let default = measure(&bench, &pairs).await;
    bench.embedder.fails.store(true, Ordering::SeqCst);
    let words_alone = measure(&bench, &pairs).await;
    let bare_words = measure_bare_full_text(&bench, &pairs).await;
    let bench = bench_with_memories(&pairs, Some(Arc::new(small_model()))).await;
    let with_small_model = measure(&bench, &pairs).await;
    println!("{of}, recall at {MOST}");
    println!("  default:                       {default}");
    println!("  test model:                    {with_small_model}");
    println!("  full text alone:               {words_alone}");
    println!("  full text without a condition: {bare_words}");
    assert!(default.english > words_alone.english && default.swedish > words_alone.swedish);
    assert!(default.all() > bare_words.all(), "{default}, {bare_words}");
    assert!(with_small_model.all() > words_alone.all());
    // A lower value means that a change made the search worse, not that the questions are wrong.
    assert!(default.all() >= least, "{default}");
}

#[tokio::test]
async fn the_default_memory_search_finds_more_than_full_text_search_alone() {
    compare(CALIBRATION, 160).await;
}

#[tokio::test]
async fn the_default_memory_search_beats_full_text_search_on_held_out_questions() {
    compare(HELD_OUT, 160).await;
}
