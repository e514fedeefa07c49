//! Texts in memories, recordings and messages of side sessions, for the test that cuts the power.
//! Knows which states each text may have after a cut, and which words must not be in any file. Each
//! text has a unique word.

use std::collections::HashSet;
use std::path::Path;

use contract::{Item, ItemBody, MemoryEntry, MemoryId, MemoryKind, SessionId};
use engine::ports::{
    EmbeddingModelId, HeldMemory, Items as _, LongTermMemories as _, MemoryReach, MemoryVector,
    Recordings as _, Sessions as _, StoredRecording,
};
use soak::{Disk, Random};
use store::SqliteStore;

use crate::world::{instant, message};

/// The number of letters of a word that are searched for. The word index omits the first letters of
/// a word if the previous word has the same letters.
const SEARCHED: usize = 12;

/// The suffix of files that are memory-mapped and recreated at each start. They are not searched,
/// because SQLite may copy unused memory of the program into them.
const SHARED: &str = "-shm";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Memory,
    Message,
    /// The recording of a turn, which may contain the text of a memory.
    Recording {
        memory: Option<u64>,
    },
}

/// One state of a text, which is valid until the next state.
#[derive(Clone, Debug)]
struct State {
    begun: usize,
    /// The moment from which the state is on disk.
    done: Option<usize>,
    /// The word of the text, or None after a deletion.
    word: Option<u64>,
}

#[derive(Clone, Debug)]
struct Text {
    n: u64,
    kind: Kind,
    /// The session whose erasure also erases this text.
    session: Option<u64>,
    states: Vec<State>,
}

impl Text {
    fn word(&self) -> Option<u64> {
        self.states.last().and_then(|state| state.word)
    }
    /// Returns the words of the states before this state.
    fn words_before(&self, state: usize) -> impl Iterator<Item = Old> {
        let words = self.states[..state].iter().filter_map(|state| state.word);
        words.map(|word| Old { word, erased: None })
    }
    async fn read(&self, store: &SqliteStore) -> Option<String> {
        match self.kind {
            Kind::Memory => store.entry(&memory_id(self.n)).await.expect("read").map(|m| m.text),
            Kind::Recording { .. } => store.recording(&turn_id(self.n)).await.expect("read"),
            Kind::Message => {
                let session = session_id(self.session.expect("it has one"));
                let items = store.items_before(&session, None, u32::MAX).await.expect("read");
                let wanted = item(self.n, 0).id;
                items.into_iter().find(|item| item.id == wanted).map(|item| match item.body {
                    ItemBody::UserMessage { text } => text,
                    other => panic!("{other:?}"),
                })
            }
        }
    }
    /// Returns the whole text of a state.
    fn content(&self, word: u64) -> String {
        match self.kind {
            Kind::Memory | Kind::Message => content(word),
            Kind::Recording { memory } => recording(word, memory),
        }
    }
}

/// A replaced or deleted text, and the moment from which no file contains it.
#[derive(Clone, Debug)]
struct Old {
    word: u64,
    erased: Option<usize>,
}

/// All texts of one environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    all: Vec<Text>,
    old: Vec<Old>,
    /// The side sessions that were ever created.
    started: Vec<u64>,
    /// The side sessions that exist.
    sessions: Vec<u64>,
    next: u64,
}

fn memory_id(n: u64) -> MemoryId {
    format!("memory-{n}-").as_str().into()
}

pub(crate) fn session_id(n: u64) -> SessionId {
    SessionId(format!("side-{n}"))
}

fn turn_id(n: u64) -> contract::TurnId {
    format!("recorded-{n}").as_str().into()
}

/// Returns the unique word of a text.
fn word(n: u64) -> String {
    let mut random = Random::new(n);
    (0..SEARCHED + 4).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

/// Returns a text that repeats its unique word, so that every part contains it. One in six texts
/// may have up to about 3,000 bytes.
pub(crate) fn content(n: u64) -> String {
    let most = if n.is_multiple_of(6) { 180 } else { 8 };
    vec![word(n); 1 + Random::new(!n).index(most)].join(" ")
}

pub(crate) fn vector(n: u64) -> MemoryVector {
    let values = vec![1.0, n as f32, 0.5, 0.25];
    MemoryVector { model: EmbeddingModelId("m".into()), values }
}

pub(crate) fn entry(n: u64, session: Option<u64>, source: Option<u64>) -> MemoryEntry {
    MemoryEntry {
        id: memory_id(n),
        session: session.map(session_id),
        kind: MemoryKind::Note,
        text: content(n),
        sources: source.map(|of| format!("message-{of}").as_str().into()).into_iter().collect(),
        pinned: false,
        untrusted: false,
        local_only: true,
        created_at: instant("2026-11-21T10:00:00Z"),
        edited_at: None,
    }
}

pub(crate) fn item(n: u64, session: u64) -> Item {
    Item {
        id: format!("message-{n}").as_str().into(),
        body: ItemBody::UserMessage { text: content(n) },
        ..message(&session_id(session), n)
    }
}

/// Returns the files of the folder and its backups that contain one of the texts.
pub(crate) fn files_with(folder: &Path, texts: &[u64]) -> Vec<String> {
    let words: Vec<String> = texts.iter().map(|n| word(*n)).collect();
    let wanted: HashSet<&[u8]> = words.iter().map(|word| &word.as_bytes()[4..]).collect();
    let holds = |bytes: &[u8]| {
        let runs: HashSet<&[u8]> = bytes
            .split(|byte| !byte.is_ascii_lowercase())
            .filter(|run| run.len() >= SEARCHED)
            .collect();
        runs.iter().any(|run| run.windows(SEARCHED).any(|part| wanted.contains(part)))
    };
    let entries = [folder.to_owned(), folder.join("backups")].into_iter();
    entries
        .filter_map(|folder| folder.read_dir().ok())
        .flat_map(|entries| entries.flatten())
        .filter(|entry| entry.path().is_file())
        .filter(|entry| !entry.file_name().to_string_lossy().ends_with(SHARED))
        .filter(|entry| holds(&std::fs::read(entry.path()).expect("read")))
        .map(|entry| entry.path().display().to_string())
        .collect()
}

/// When the effect of a step is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Now,
    Later,
}

impl Texts {
    /// Makes one change. If the result is `Now`, the caller must call `sync`.
    pub(crate) async fn step(
        &mut self,
        store: &SqliteStore,
        folder: &Path,
        disk: &Disk,
        random: &mut Random,
    ) -> Written {
        let begun = disk.moment();
        if self.sessions.is_empty() || random.chance(10) {
            self.next += 1;
            let at = instant("2026-11-21T09:00:00Z");
            store.session_create(&session_id(self.next), "Side", at).await.expect("created");
            self.started.push(self.next);
            self.sessions.push(self.next);
        }
        match random.below(20) {
            0..=5 => self.add_memory(store, begun, random).await,
            6..=8 => self.add_message(store, begun, random).await,
            9..=11 => self.record(store, begun, random).await,
            12..=14 => self.edit(store, begun, random).await,
            15..=17 => self.delete(store, begun, random).await,
            _ => {
                let of = self.sessions.swap_remove(random.index(self.sessions.len()));
                self.erase(store, begun, of).await;
                self.sync(disk.moment());
                self.note_erased(disk.moment());
                self.check_files(folder, "after an erasure");
                Written::Now
            }
        }
    }

    fn put(&mut self, kind: Kind, session: Option<u64>, begun: usize) -> u64 {
        self.next += 1;
        let states = vec![State { begun, done: None, word: Some(self.next) }];
        self.all.push(Text { n: self.next, kind, session, states });
        self.next
    }

    async fn add_memory(
        &mut self,
        store: &SqliteStore,
        begun: usize,
        random: &mut Random,
    ) -> Written {
        let of = *random.pick(&self.sessions);
        let messages: Vec<u64> = self.living(|text| text.kind == Kind::Message);
        let source = messages.get(random.index(messages.len() * 3)).copied();
        let made_of = source.and_then(|n| self.all.iter().find(|text| text.n == n)?.session);
        // A memory without a session belongs to the profile, and is erased with the session of its
        // source.
        let own = random.chance(50).then_some(of).filter(|_| source.is_none());
        let n = self.put(Kind::Memory, own.or(made_of), begun);
        let vector = random.chance(70).then(|| vector(n));
        store.entry_add(&entry(n, own, source), vector.as_ref()).await.expect("stored");
        Written::Now
    }

    async fn add_message(
        &mut self,
        store: &SqliteStore,
        begun: usize,
        random: &mut Random,
    ) -> Written {
        let of = *random.pick(&self.sessions);
        let n = self.put(Kind::Message, Some(of), begun);
        store.items_append(vec![item(n, of)]).await.expect("appended");
        Written::Later
    }

    async fn record(&mut self, store: &SqliteStore, begun: usize, random: &mut Random) -> Written {
        let of = *random.pick(&self.sessions);
        let memories = self.living(|text| text.kind == Kind::Memory);
        let memory = memories.get(random.index(memories.len() * 2)).copied();
        let n = self.put(Kind::Recording { memory }, Some(of), begun);
        let held = |memory: u64| {
            let text = self.all.iter().find(|text| text.n == memory).and_then(Text::word);
            HeldMemory { id: memory_id(memory), text: content(text.expect("it is there")) }
        };
        let recording = StoredRecording {
            session: session_id(of),
            turn: turn_id(n),
            body: recording(n, memory),
            memories: memory.into_iter().map(held).collect(),
        };
        store.recording_put(recording, 10_000).await.expect("taken");
        Written::Later
    }

    /// Returns the existing texts that are wanted.
    fn living(&self, is_wanted: impl Fn(&Text) -> bool) -> Vec<u64> {
        let there = self.all.iter().filter(|text| text.word().is_some() && is_wanted(text));
        there.map(|text| text.n).collect()
    }

    async fn edit(&mut self, store: &SqliteStore, begun: usize, random: &mut Random) -> Written {
        let memories = self.living(|text| text.kind == Kind::Memory);
        let Some(n) = memories.get(random.index(memories.len())).copied() else {
            return Written::Later;
        };
        self.next += 1;
        let (new, at) = (self.next, instant("2026-11-21T11:00:00Z"));
        let vector = random.chance(50).then(|| vector(new));
        let edited = store.entry_edit(&memory_id(n), &content(new), vector.as_ref(), at).await;
        assert_eq!(edited, Ok(true));
        self.end(begun, |text| text.kind == Kind::Recording { memory: Some(n) });
        let memory = self.all.iter_mut().find(|text| text.n == n).expect("it is known");
        memory.states.push(State { begun, done: None, word: Some(new) });
        Written::Now
    }

    async fn delete(&mut self, store: &SqliteStore, begun: usize, random: &mut Random) -> Written {
        let memories = self.living(|text| text.kind == Kind::Memory);
        let Some(n) = memories.get(random.index(memories.len())).copied() else {
            return Written::Later;
        };
        assert_eq!(store.entry_delete(&memory_id(n)).await, Ok(true));
        self.end(begun, |text| text.n == n || text.kind == Kind::Recording { memory: Some(n) });
        Written::Now
    }

    async fn erase(&mut self, store: &SqliteStore, begun: usize, of: u64) {
        store.session_erase(&session_id(of)).await.expect("erased");
        let memories: HashSet<u64> = self
            .all
            .iter()
            .filter(|text| text.kind == Kind::Memory && text.session == Some(of))
            .map(|text| text.n)
            .collect();
        self.end(begun, |text| {
            text.session == Some(of)
                || matches!(text.kind, Kind::Recording { memory: Some(m) } if memories.contains(&m))
        });
    }

    fn end(&mut self, begun: usize, is_meant: impl Fn(&Text) -> bool) {
        for text in &mut self.all {
            if text.word().is_some() && is_meant(text) {
                text.states.push(State { begun, done: None, word: None });
            }
        }
    }

    /// Records that all states so far are on disk.
    pub(crate) fn sync(&mut self, moment: usize) {
        for state in self.all.iter_mut().flat_map(|text| &mut text.states) {
            state.done.get_or_insert(moment);
        }
    }

    /// Records that no file contains a replaced or deleted text any more.
    fn note_erased(&mut self, moment: usize) {
        for text in &self.all {
            self.old.extend(text.words_before(text.states.len() - 1));
        }
        for old in &mut self.old {
            old.erased.get_or_insert(moment);
        }
    }

    /// Returns what must be true if the power is cut at this moment: each text with the states that
    /// it may have then.
    pub(crate) fn at(&self, moment: usize) -> Self {
        let mut there = Self { started: self.started.clone(), next: self.next, ..Self::default() };
        there.old = self
            .old
            .iter()
            .filter(|old| old.erased.is_some_and(|at| at <= moment))
            .map(|old| Old { erased: Some(0), ..old.clone() })
            .collect();
        for text in &self.all {
            let sure =
                text.states.iter().rposition(|state| state.done.is_some_and(|at| at <= moment));
            there.old.extend(text.words_before(sure.unwrap_or_default()));
            let begun = text
                .states
                .iter()
                .skip(sure.map_or(0, |at| at + 1))
                .filter(|state| state.begun < moment);
            let first = sure
                .map_or(State { word: None, begun: 0, done: None }, |at| text.states[at].clone());
            let states: Vec<State> = std::iter::once(first).chain(begun.cloned()).collect();
            if states.iter().any(|state| state.word.is_some()) {
                there.all.push(Text { states, ..text.clone() });
            }
        }
        there
    }

    /// Returns a moment at which the power is cut: often right after an erasure.
    pub(crate) fn pick_moment(&self, last: usize, random: &mut Random) -> usize {
        let ends: Vec<usize> =
            self.old.iter().filter_map(|old| old.erased).filter(|at| *at > 0).collect();
        match ends.get(random.index(ends.len())) {
            Some(end) if random.chance(40) => last.min(end + random.index(4)),
            _ => random.index(last + 1),
        }
    }

    fn erased(&self) -> Vec<u64> {
        self.old.iter().filter(|old| old.erased.is_some()).map(|old| old.word).collect()
    }

    /// Checks that no file contains an erased text.
    pub(crate) fn check_files(&self, folder: &Path, case: &str) {
        let left = files_with(folder, &self.erased());
        assert!(left.is_empty(), "{case}: erased texts are in {left:?}");
    }

    /// Checks that each text has one of the states that it may have. Returns the states that were
    /// found.
    pub(crate) async fn check(&self, store: &SqliteStore, case: &str) -> Self {
        let mut found = self.clone();
        for text in &mut found.all {
            let there = text.read(store).await;
            let is_there = |state: &State| state.word.map(|word| text.content(word)) == there;
            let Some(at) = text.states.iter().position(is_there) else {
                panic!("{case}: {text:?} is {there:?}")
            };
            found.old.extend(text.words_before(at));
            text.states = vec![State { begun: 0, done: Some(0), ..text.states[at].clone() }];
        }
        let reach = MemoryReach::Everything;
        let near = store.entries_by_vector(&vector(1), &reach, 1_000).await.expect("searched");
        for (memory, _) in near {
            let is_known =
                |text: &Text| text.kind == Kind::Memory && memory_id(text.n) == memory.id;
            let known = found.all.iter().find(|text| is_known(text));
            let word = known.and_then(Text::word);
            assert_eq!(word.map(content), Some(memory.text), "{case}: a vector of {}", memory.id);
        }
        found
    }

    /// Reads which sessions exist.
    pub(crate) async fn begin(&mut self, store: &SqliteStore) {
        let mut there = Vec::new();
        for n in self.started.iter().copied() {
            if store.session(&session_id(n)).await.expect("read").is_some() {
                there.push(n);
            }
        }
        self.sessions = there;
    }
}

fn recording(n: u64, memory: Option<u64>) -> String {
    let memory = memory.map(memory_id).unwrap_or_else(|| "none".into());
    format!(r#"{{"memory":"{memory}","text":"{}"}}"#, content(n))
}
