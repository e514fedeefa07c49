//! Tests that run `csign` with and without an injected failure: a kill at a random instant, or
//! system calls that fail with an I/O error. After a failure, the log verifies, all reported data
//! is still there, and no forgotten or erased data is there. Without a failure, there is no alarm.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, TimeDelta};
use rusqlite::Connection;
use serde_json::Value;
use soak::{Plan, Random};

use crate::terminal::Terminal;
use crate::world::{NOW, Ran, World, program};

const COMMANDS: [&[&str]; 5] = [
    &["ask", "--json", "--session", "s", "What is in my cart?"],
    &["ask", "--json", "--session", "s", "hello"],
    &["ask", "--json", "what can you do?"],
    &["tools", "call", "cart.get", "--session", "s"],
    &["audit", "checkpoint"],
];

/// Returns the turns whose end was reported without an error.
fn ended_turns(out: &str) -> Vec<String> {
    let events: Vec<Value> =
        out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let is_error = |event: &Value| event["type"] == "error" || !event["error"].is_null();
    let has_failed =
        |turn: &str| events.iter().any(|event| event["turn"] == turn && is_error(event));
    events
        .iter()
        .filter(|event| event["type"] == "final")
        .filter_map(|event| event["turn"].as_str().map(str::to_owned))
        .filter(|turn| !has_failed(turn))
        .collect()
}

/// Returns the number of rows of a database.
fn count(world: &World, name: &str, sql: &str, of: &str) -> i64 {
    let db = Connection::open(world.data().join(name)).expect("opened");
    db.query_row(sql, [of], |row| row.get(0)).expect("read")
}

/// Whether the turn is in both the conversation and the log.
fn is_kept(world: &World, turn: &str) -> bool {
    let ended = "SELECT count(*) FROM turn WHERE id=?1 AND ended_at IS NOT NULL";
    let recorded = "SELECT count(*) FROM audit_record WHERE CAST(body AS TEXT) LIKE '%\"turn\":\"' || ?1 || '\"%'";
    count(world, "countersign.db", ended, turn) == 1 && count(world, "audit.db", recorded, turn) > 0
}

/// Whether a file in the folder or its subfolders contains the text.
fn is_in_a_file(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).expect("read").flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return is_in_a_file(&path, text);
        }
        fs::read(path)
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
    })
}

/// Kills the running `csign` of this world.
fn kill_csign(world: &World) {
    let data = world.data().display().to_string();
    for entry in fs::read_dir("/proc").expect("read").flatten() {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let mut parts = line.split('\0');
        let is_csign = parts.next().is_some_and(|program| program.ends_with("/csign"));
        if is_csign && parts.any(|part| part == data) {
            let id = entry.file_name();
            Command::new("kill").arg("-KILL").arg(id).status().expect("started");
        }
    }
}

/// Returns a `strace` command that makes one kind of system call of a program fail: in each thread,
/// the call with this number, or also all later calls. Logs the failed calls to a file of the
/// world.
fn strace(world: &World, call: &str, first: u64, always: &str) -> String {
    let trace = world.path("trace").display().to_string();
    format!(
        "strace -f -qqq --seccomp-bpf -A -o {trace} -e trace={call} -e inject={call}:error=EIO:when={first}{always}"
    )
}

/// Checks that a failure was reported in plain words.
fn check_words(fault: &str, said: &str) {
    assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "{fault}: {said}");
}

/// A conversation that will be erased, and a word that occurs only in it.
#[derive(Clone)]
struct Side {
    session: String,
    word: String,
}

/// The kind of failure that is injected while `csign` runs.
#[derive(Clone, Copy)]
enum Fault {
    /// `csign` is killed at a random instant.
    Kill,
    /// One kind of system call fails, once or always, from a random call on. `strace` makes the
    /// calls fail.
    IoError,
}

/// The system calls that fail with an I/O error, and the maximum number of calls before the
/// failure.
const FAILING_CALLS: [(&str, u64); 7] = [
    ("pwrite64", 40),
    ("pread64", 200),
    ("fdatasync", 12),
    ("fsync", 12),
    ("ftruncate", 6),
    ("rename", 6),
    ("unlink", 6),
];

/// A profile whose `csign` runs with many failures, and what was reported in these runs.
struct Trial {
    fault: Fault,
    /// The command that last made calls fail.
    last_runner: String,
    world: World,
    random: Random,
    began: Instant,
    /// The maximum time from the start of a command to its kill. Some commands end before the kill.
    limit: Duration,
    /// The number of days that have passed.
    days: i64,
    turns: Vec<String>,
    /// The id and the text of each memory.
    memories: Vec<(String, String)>,
    forgotten: Vec<String>,
    sides: Vec<Side>,
    erased: Vec<String>,
    next: u64,
}

impl Trial {
    fn new(fault: Fault, mut random: Random) -> Self {
        let (world, other) = (World::new(), World::new());
        // In half of the trials, the profile is empty, so that the first command with a failure
        // creates the files.
        let has_begun = random.chance(50);
        let began = Instant::now();
        let first = if has_begun { &world } else { &other };
        let told = ended_turns(&first.run(COMMANDS[0]).ends_with(0).out);
        let limit = began.elapsed() * 3 / 2;
        let turns = if has_begun { told } else { Vec::new() };
        Self { limit, turns, ..Self::of_new_world(fault, world, random) }
    }

    fn of_new_world(fault: Fault, world: World, random: Random) -> Self {
        Self {
            fault,
            last_runner: String::new(),
            world,
            random,
            began: Instant::now(),
            limit: Duration::ZERO,
            days: 0,
            turns: Vec::new(),
            memories: Vec::new(),
            forgotten: Vec::new(),
            sides: Vec::new(),
            erased: Vec::new(),
            next: 0,
        }
    }

    /// Returns how many calls have failed so far.
    fn count_failed_calls(&self) -> usize {
        let trace = fs::read_to_string(self.world.path("trace")).unwrap_or_default();
        trace.matches("(INJECTED)").count()
    }

    /// Sets the time that a command sees.
    fn set_time<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let start = DateTime::parse_from_rfc3339(NOW).expect("a time");
        let passed = TimeDelta::from_std(self.began.elapsed()).expect("not that long");
        let now = start + passed + TimeDelta::days(self.days) + TimeDelta::seconds(1);
        command.env("COUNTERSIGN_TEST_NOW", now.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.world.command(args);
        Ran::of(self.set_time(&mut command).output().expect("csign starts"))
    }

    fn terminal(&self, runner: &str, args: &[&str]) -> Terminal {
        let mut script = self.world.bare("script");
        self.set_time(&mut script);
        Terminal::start_with(script, runner, &self.world, args)
    }

    fn pause(&mut self) {
        let most = u64::try_from(self.limit.as_micros()).expect("short");
        sleep(Duration::from_micros(self.random.below(most)));
    }

    /// Returns a `strace` command that starts a program whose system calls fail.
    fn choose_error(&mut self) -> String {
        let (call, most) = *self.random.pick(&FAILING_CALLS);
        let first = 1 + self.random.below(most);
        let always = if self.random.chance(30) { "+" } else { "" };
        self.last_runner = strace(&self.world, call, first, always);
        self.last_runner.clone()
    }

    /// Runs the command with an injected failure. Returns its output.
    fn run_with_fault(&mut self, args: &[&str]) -> String {
        match self.fault {
            Fault::Kill => {
                let mut command = self.world.command(args);
                let command =
                    self.set_time(&mut command).stdout(Stdio::piped()).stderr(Stdio::null());
                let mut child = command.spawn().expect("csign starts");
                self.pause();
                child.kill().expect("killed");
                let mut out = String::new();
                child.stdout.take().expect("piped").read_to_string(&mut out).expect("read");
                child.wait().expect("reaped");
                out
            }
            Fault::IoError => {
                let runner = self.choose_error();
                self.run_behind(&runner, args)
            }
        }
    }

    /// Runs the command with another command in front. Returns its output.
    fn run_behind(&self, runner: &str, args: &[&str]) -> String {
        let mut words = runner.split(' ');
        let mut command = self.world.bare(words.next().expect("a program"));
        command.args(words).arg(program()).arg("--data-dir").arg(self.world.data()).args(args);
        let ran = Ran::of(self.set_time(&mut command).output().expect("it starts"));
        check_words(runner, &ran.err);
        ran.out
    }

    /// Runs the command with a failure at a terminal, where `answer` is typed after the question.
    fn type_with_fault(&mut self, args: &[&str], answer: Option<(&str, &str)>) -> String {
        let runner = match self.fault {
            Fault::Kill => String::new(),
            Fault::IoError => self.choose_error(),
        };
        let mut terminal = self.terminal(&runner, args);
        if let Some((question, answer)) = answer
            && terminal.shows(question)
        {
            terminal.type_in(&format!("{answer}\n"));
        }
        if matches!(self.fault, Fault::Kill) {
            self.pause();
            kill_csign(&self.world);
        }
        let (seen, _) = terminal.end();
        check_words(&runner, &seen);
        seen
    }

    /// Runs one command with a failure. Returns its name.
    fn step(&mut self) -> &'static str {
        match self.random.below(12) {
            0..=1 => self.add_memory(),
            2 => self.forget_memory(),
            3..=4 => self.erase(),
            5 => self.replay(),
            6 => self.wait_a_month(),
            _ => {
                let args = *self.random.pick(&COMMANDS);
                let told = ended_turns(&self.run_with_fault(args));
                self.turns.extend(told);
                args[0]
            }
        }
    }

    fn add_memory(&mut self) -> &'static str {
        self.next += 1;
        let text = format!("Note {} about account 17", self.next);
        let seen = self.type_with_fault(&["memory", "add", &text], None);
        let id = seen.split_once("Remembered as ").and_then(|(_, rest)| rest.split_once('.'));
        self.memories.extend(id.map(|(id, _)| (id.to_owned(), text)));
        "memory add"
    }

    fn forget_memory(&mut self) -> &'static str {
        if self.memories.is_empty() {
            return self.add_memory();
        }
        let at = self.random.index(self.memories.len());
        let (id, text) = self.memories.swap_remove(at);
        if self.type_with_fault(&["memory", "forget", &id], None).contains("Forgotten.") {
            self.forgotten.push(text);
        }
        "memory forget"
    }

    /// Erases a conversation. If the erasure does not finish, a later erasure repeats it.
    fn erase(&mut self) -> &'static str {
        if self.sides.is_empty() {
            self.next += 1;
            let side = Side {
                session: format!("side-{}", self.next),
                word: format!("quixotelamp{}x", self.next),
            };
            let question = format!("show me {} tents under 731 kr", side.word);
            self.run(&["ask", "--session", &side.session, &question]).ends_with(0);
            assert!(is_in_a_file(&self.world.data(), &side.word));
            self.sides.push(side);
        }
        let side = self.random.pick(&self.sides).clone();
        let args = ["audit", "erase", "--session", &side.session];
        let answer = Some((ERASE_QUESTION, &*side.session));
        if self.type_with_fault(&args, answer).contains("the log still verifies") {
            self.note_erased(&side);
        }
        "audit erase"
    }

    fn note_erased(&mut self, side: &Side) {
        self.erased.push(side.word.clone());
        self.sides.retain(|other| other.session != side.session);
    }

    fn replay(&mut self) -> &'static str {
        if self.turns.is_empty() {
            return self.add_memory();
        }
        let turn = self.random.pick(&self.turns).clone();
        self.run_with_fault(&["replay", &turn]);
        "replay"
    }

    /// Lets values expire, so that the next command erases them.
    fn wait_a_month(&mut self) -> &'static str {
        fs::create_dir_all(self.world.data()).expect("made");
        let settings = self.world.data().join("countersign.toml");
        fs::write(settings, "[audit]\nkeep_values_days = 30\n").expect("written");
        self.days += 40;
        let told = ended_turns(&self.run(COMMANDS[1]).out);
        self.turns.extend(told);
        // The clock is trusted only if runs on different days agree on the time.
        self.days += 2;
        let told = ended_turns(&self.run_with_fault(COMMANDS[1]));
        self.turns.extend(told);
        "a month later"
    }

    fn check(&self, case: &str) {
        let world = &self.world;
        for word in &self.erased {
            assert!(!is_in_a_file(&world.data(), word), "{case}: {word} is back");
        }
        let ran = self.run(&["audit", "verify"]);
        let is_empty = self.turns.is_empty() && self.memories.is_empty() && self.erased.is_empty();
        // A log that was just created may have no copy of its checkpoint outside, or no records.
        assert!(
            ran.code == 0 || is_empty && [1, 6].contains(&ran.code),
            "{case}: {}: {}{}",
            ran.code,
            ran.out,
            ran.err
        );
        for turn in &self.turns {
            assert!(is_kept(world, turn), "{case}: {turn} was told and is lost");
        }
        let has = |text: &str| {
            count(world, "countersign.db", "SELECT count(*) FROM memory WHERE text = ?1", text)
        };
        for (_, text) in &self.memories {
            assert_eq!(has(text), 1, "{case}: {text} was remembered and is lost");
        }
        for text in &self.forgotten {
            assert_eq!(has(text), 0, "{case}: {text} was forgotten and is back");
        }
    }

    /// Ends with commands without a failure, all of which must succeed.
    fn end(&mut self, case: &str) {
        let ran = self.run(COMMANDS[0]);
        assert_eq!(ran.code, 0, "{case}: {}{}", ran.out, ran.err);
        let turn = ended_turns(&ran.out).pop().expect("it was told");
        let ran = self.run(&["replay", &turn]);
        assert_eq!(ran.code, 0, "{case}: {}{}", ran.out, ran.err);
        for side in self.sides.clone() {
            let mut terminal = self.terminal("", &["audit", "erase", "--session", &side.session]);
            terminal.wait_for(ERASE_QUESTION);
            terminal.type_in(&format!("{}\n", side.session));
            let (seen, code) = terminal.end();
            assert_eq!(code, Some(0), "{case}: {seen}");
            self.note_erased(&side);
        }
        if self.days > 0 {
            let old = "SELECT count(*) FROM audit_reveal v JOIN audit_record r ON r.seq = v.seq WHERE r.at < ?1";
            let until = DateTime::parse_from_rfc3339(NOW).expect("a time");
            let until = (until + TimeDelta::days(self.days - 30)).to_rfc3339();
            assert_eq!(count(&self.world, "audit.db", old, &until), 0, "{case}: old values");
        }
        self.check(case);
        eprintln!(
            "{case}: told {} turns and {} memories, {} forgotten, {} erased",
            self.turns.len(),
            self.memories.len(),
            self.forgotten.len(),
            self.erased.len()
        );
    }
}

const ERASE_QUESTION: &str = "Type the id of the conversation to erase it:";
/// The number of failures in one profile before the next profile begins.
const FAULTS: u64 = 10;

fn try_faults(plan: &Plan, fault: Fault) {
    let mut failed_calls = 0;
    for number in 0..plan.cases().div_ceil(FAULTS) {
        let mut trial = Trial::new(fault, plan.random(number));
        for at in 0..FAULTS {
            let step = trial.step();
            let case = plan.case(number);
            trial.check(&format!("{case}, fault {at}: {step} {}", trial.last_runner));
        }
        trial.end(&plan.case(number));
        failed_calls += trial.count_failed_calls();
    }
    assert!(failed_calls > 0 || matches!(fault, Fault::Kill), "strace let no call fail");
}

#[test]
fn a_kill_at_any_instant_loses_no_acknowledged_record_and_raises_no_alarm() {
    try_faults(&Plan::new("kills of csign", 200), Fault::Kill);
}

#[test]
fn an_io_error_in_any_system_call_loses_no_acknowledged_record_and_raises_no_alarm() {
    try_faults(&Plan::new("I/O errors of csign", 200), Fault::IoError);
}

#[test]
fn an_io_error_in_any_sync_of_a_first_start_raises_no_alarm() {
    for always in ["", "+"] {
        let mut first = 0;
        loop {
            first += 1;
            let mut trial = Trial::of_new_world(Fault::IoError, World::new(), Random::new(first));
            let runner = strace(&trial.world, "fsync", first, always);
            trial.turns = ended_turns(&trial.run_behind(&runner, COMMANDS[1]));
            let failed_calls = trial.count_failed_calls();
            trial.check(&runner);
            trial.end(&runner);
            if failed_calls == 0 {
                break;
            }
        }
        assert!(first > 5, "strace let {} syncs fail", first - 1);
    }
}

#[test]
fn a_clean_run_of_csign_raises_no_alarm() {
    let plan = Plan::new("clean runs of csign", 100);
    let mut world = World::new();
    for number in 0..plan.cases() {
        let (mut random, case) = (plan.random(number), plan.case(number));
        if random.chance(20) {
            world = World::new();
        }
        let args = *random.pick(&COMMANDS);
        let ran = world.run(args);
        assert_eq!(ran.code, 0, "{case}: {args:?}: {}{}", ran.out, ran.err);
        let ran = world.run(&["audit", "verify"]);
        assert_eq!(ran.code, 0, "{case}: after {args:?}: {}{}", ran.out, ran.err);
        if random.chance(20) {
            let said = world.run(&["doctor"]).out;
            assert!(!said.to_lowercase().contains("verification failed"), "{case}: {said}");
        }
    }
}
