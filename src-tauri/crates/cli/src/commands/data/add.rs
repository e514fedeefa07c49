//! `csign data add`: imports each place of the command line, asks the user what only a person can
//! decide, and reports what was stored. Knows no format of files.

use std::collections::BTreeMap;

use contract::{
    AgentError, Empty, ErrorCode, SourceAddParams, SourceName, SourceParams,
    sources::{ImportDecisions, ImportResult},
};
use host::quote_word;

use super::{
    glance::{self, Shown},
    interrupts::Interrupts,
    job::{Halt, stopped_error, wait_for_job},
    paragraph::Paragraph,
    places::Place,
    program_output::FileOutcome,
    questions::{Reply, ask_question, print_open},
};
use crate::exit::{Exit, Failure};
use crate::keys::Keys;
use crate::link::Link;
use crate::out::Out;

/// An import as the command line describes it.
#[derive(Debug)]
pub(crate) struct Addition {
    pub(super) places: Vec<Place>,
    pub(super) name: Option<SourceName>,
    pub(super) decisions: ImportDecisions,
    pub(super) forgets: bool,
    /// Whether nothing is stored.
    pub(super) is_check: bool,
    /// Whether a person at a terminal answers questions.
    pub(super) asks: bool,
    /// Whether a person is present.
    pub(super) person: bool,
}

/// The results of one place.
struct Imported {
    results: Vec<ImportResult>,
    /// Whether a part of it was shown before a question.
    was_shown: bool,
    /// Whether the user ended the import at a question.
    is_ended: bool,
}

/// Imports all places. Returns the exit code of the worst result.
pub(super) async fn add(link: &Link, out: Out, addition: &Addition) -> Result<Exit, Failure> {
    let mut interrupts = Interrupts::listen()?;
    let added = add_places(link, out, addition, &mut interrupts).await;
    interrupts.exit_on_next();
    added
}

async fn add_places(
    link: &Link,
    out: Out,
    addition: &Addition,
    interrupts: &mut Interrupts,
) -> Result<Exit, Failure> {
    let mut asking = Asking::new(addition.asks);
    let mut outcomes = Vec::new();
    let mut exit = Exit::Done;
    for (at, place) in addition.places.iter().enumerate() {
        let imported = match import_place(link, out, addition, place, &mut asking, interrupts).await
        {
            Ok(imported) => imported,
            Err(halt) if addition.places.len() == 1 => return Err(halt.into()),
            Err(Halt::Stopped) => {
                exit = Exit::Failed;
                outcomes.extend(stop_before(out, &addition.places[at..]));
                break;
            }
            Err(Halt::Failed(failure)) => {
                exit = worse(exit, failure.exit);
                if !out.json {
                    print_failed(out, &place.shown, &failure.error);
                }
                outcomes.push(FileOutcome::failed(&place.shown, failure.error));
                continue;
            }
        };
        exit = worse(exit, exit_of(&imported.results, addition.is_check));
        if !out.json {
            print_imported(out, &imported, addition.is_check);
        }
        outcomes.extend(imported.results.into_iter().map(FileOutcome::read));
    }
    print_for_programs(out, &outcomes);
    Ok(exit)
}

/// Says that the user stopped the import, and which files were not stored.
fn stop_before(out: Out, places: &[Place]) -> Vec<FileOutcome> {
    let names: Vec<&str> = places.iter().map(|place| place.shown.as_str()).collect();
    if !out.json {
        let hint = format!("Nothing was stored of {}.", names.join(", "));
        let error = AgentError::invalid(stopped_error().message).hint(hint);
        out.print_error(&wrap_error(out, error));
    }
    names.into_iter().map(|name| FileOutcome::failed(name, stopped_error())).collect()
}

/// Prints why one of several files was not imported. The message is one line with the name of the
/// file, so that a search in long output finds it.
fn print_failed(out: Out, shown: &str, error: &AgentError) {
    let message = format!("{shown}: {}", error.message.as_str());
    out.print_error(&AgentError { message, ..error.clone() });
}

/// Breaks the lines of a failure for a terminal.
pub(super) fn wrap_failure(out: Out, failure: Failure) -> Failure {
    Failure { error: wrap_error(out, failure.error), ..failure }
}

fn wrap_error(out: Out, error: AgentError) -> AgentError {
    let Some(width) = out.note_width().filter(|_| !out.json) else { return error };
    let wrap = |lead: &str, text: &str| -> String {
        let indent = " ".repeat(lead.len());
        let text = Paragraph::prose(text).after(lead);
        text.lines(Some(width)).join(&format!("\n{indent}"))
    };
    let hint = error.hint_text().map(|hint| wrap("hint: ", hint));
    let message = wrap("error: ", error.message.as_str());
    let wrapped = AgentError { message, ..error };
    match hint {
        Some(hint) => wrapped.hint(hint),
        None => wrapped,
    }
}

/// Prints an object for one file, and a list for several.
fn print_for_programs(out: Out, outcomes: &[FileOutcome]) {
    match outcomes {
        _ if !out.json => {}
        [only] => out.print_json(only),
        all => out.print_json(&all),
    }
}

/// Adds the sample that ships with the app.
pub(super) async fn add_sample(link: &Link, out: Out) -> Result<Exit, Failure> {
    let mut interrupts = Interrupts::listen()?;
    let job = link.commands.source_sample(Empty {}).await?;
    let results = wait_for_job(link, out, &mut interrupts, job, "sample").await;
    interrupts.exit_on_next();
    let results = results?;
    if out.json {
        out.print_json(&results.into_iter().map(FileOutcome::read).collect::<Vec<_>>());
        return Ok(Exit::Done);
    }
    for result in &results {
        Paragraph::new(glance::summarise(result)).print_note(out);
    }
    Ok(Exit::Done)
}

/// Imports the new and changed files of a source. Questions are not asked: the answer needs the file.
pub(super) async fn refresh(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let params = SourceParams { name: name.as_str().into() };
    let mut interrupts = Interrupts::listen()?;
    let job = link.commands.source_refresh(params).await?;
    let results = wait_for_job(link, out, &mut interrupts, job, &name).await;
    interrupts.exit_on_next();
    let results = results?;
    let exit = exit_of(&results, false);
    if out.json {
        out.print_json(&results.into_iter().map(FileOutcome::read).collect::<Vec<_>>());
        return Ok(exit);
    }
    if results.is_empty() {
        out.print_note("There are no new files.");
    }
    print_results(out, &results, false);
    for open in results.iter().filter(|result| !result.questions.is_empty()) {
        let (file, name) = (&open.report.file, quote_word(&name));
        let text = format!("To answer, import {file} by itself with --name {name}.");
        Paragraph::new(text).print_note(out);
    }
    Ok(exit)
}

/// The keys of the user, once a question needs them.
pub(crate) struct Asking {
    asks: bool,
    keys: Option<Keys>,
}

impl Asking {
    pub(crate) fn new(asks: bool) -> Self {
        Self { asks, keys: None }
    }

    /// Returns the keys if they were needed. They can be read by one reader only.
    pub(crate) fn into_keys(self) -> Option<Keys> {
        self.keys
    }

    /// Returns the keys, or None if nobody answers.
    fn keys(&mut self) -> Option<&mut Keys> {
        if !self.asks {
            return None;
        }
        if self.keys.is_none() {
            self.keys = Keys::start().ok();
        }
        self.keys.as_mut()
    }
}

/// Imports a place, and again with each answer, until nothing is asked. Results with questions are
/// returned if nobody answers them.
async fn import_place(
    link: &Link,
    out: Out,
    addition: &Addition,
    place: &Place,
    asking: &mut Asking,
    interrupts: &mut Interrupts,
) -> Result<Imported, Halt> {
    let mut decisions = addition.decisions.clone();
    let mut shown = Shown::default();
    note_other_names(out, place);
    loop {
        let params = SourceAddParams {
            place: place.text.clone(),
            name: addition.name.clone(),
            decisions: decisions.clone(),
            unattended: !addition.person,
            forget_remembered: addition.forgets,
        };
        let job = if addition.is_check {
            link.commands.source_survey(params).await?
        } else {
            link.commands.source_add(params).await?
        };
        let results = wait_for_job(link, out, interrupts, job, &place.shown).await?;
        let open = results.iter().find(|result| !result.questions.is_empty());
        let open = open.filter(|_| !addition.is_check);
        let Some((open, keys)) = open.and_then(|open| Some((open, asking.keys()?))) else {
            return Ok(Imported { results, was_shown: shown.is_used(), is_ended: false });
        };
        if !out.json {
            shown.print_before_questions(out, open);
        }
        match ask_all(out, keys, interrupts, open).await? {
            // A question that comes again with its answer would be asked for ever.
            Answers::Given(answers) if has_news(&answers, &decisions) => {
                decisions.answers.extend(answers);
            }
            Answers::Given(_) | Answers::NoInput => {
                return Ok(Imported { results, was_shown: shown.is_used(), is_ended: false });
            }
            Answers::Ended => {
                return Ok(Imported { results, was_shown: shown.is_used(), is_ended: true });
            }
        }
    }
}

/// Says that a file stands on the command line by several names.
fn note_other_names(out: Out, place: &Place) {
    if !place.other_names.is_empty() {
        let (names, file) = (place.other_names.join(", "), &place.shown);
        Paragraph::new(format!("{names}: the same file as {file}, imported once.")).print_note(out);
    }
}

fn has_news(answers: &BTreeMap<String, String>, decisions: &ImportDecisions) -> bool {
    answers.iter().any(|(id, answer)| decisions.answers.get(id) != Some(answer))
}

/// How the questions of a result ended.
enum Answers {
    Given(BTreeMap<String, String>),
    Ended,
    NoInput,
}

/// Asks all questions of a result.
async fn ask_all(
    out: Out,
    keys: &mut Keys,
    interrupts: &mut Interrupts,
    result: &ImportResult,
) -> Result<Answers, Halt> {
    let mut answers = BTreeMap::new();
    for question in &result.questions {
        let answer = match ask_question(out, keys, interrupts, question).await? {
            Reply::Value(answer) => answer,
            Reply::Ended => return Ok(Answers::Ended),
            Reply::NoInput => return Ok(Answers::NoInput),
        };
        answers.insert(question.id.clone(), answer);
    }
    Ok(Answers::Given(answers))
}

/// Prints what became of a place. A person who ended the import has seen what is open.
fn print_imported(out: Out, imported: &Imported, is_check: bool) {
    if imported.is_ended {
        out.print_note("Stopped. Nothing was stored.");
    } else {
        if imported.was_shown {
            out.print_note("");
        }
        print_results(out, &imported.results, is_check);
    }
}

/// Prints the results of one job. Its files are stored together or not at all.
fn print_results(out: Out, results: &[ImportResult], is_check: bool) {
    for result in results {
        glance::print_glance(out, result, is_check);
        print_open(out, &result.questions);
    }
    if let Some(note) = why_not_stored(results, is_check) {
        Paragraph::new(note).print_note(out);
    }
}

/// Says why nothing was stored.
fn why_not_stored(results: &[ImportResult], is_check: bool) -> Option<&'static str> {
    let is_open = results.iter().any(|result| !result.questions.is_empty());
    let lacks = |result: &&ImportResult| !result.is_stored && !is_same_content(result);
    let mut lacking = results.iter().filter(lacks).peekable();
    if is_check {
        Some("Nothing was stored: this was a check.")
    } else if is_open {
        Some("Nothing was stored: a person must decide.")
    } else if lacking.peek().is_none() {
        None
    } else if lacking.any(|result| !result.report.rejected.is_empty()) {
        Some("Nothing was stored. With --skip-rejected the other rows are stored.")
    } else {
        Some("Nothing was stored.")
    }
}

fn is_same_content(result: &ImportResult) -> bool {
    result.change.as_ref().is_some_and(|change| change.is_same_content)
}

/// Returns the exit code after one job.
fn exit_of(results: &[ImportResult], is_check: bool) -> Exit {
    if results.iter().any(|result| !result.questions.is_empty()) {
        return Exit::DecisionRequired;
    }
    let is_done = |result: &ImportResult| {
        let is_fine = is_check && result.report.rejected.is_empty();
        result.is_stored || is_same_content(result) || is_fine
    };
    if results.iter().all(is_done) { Exit::Done } else { Exit::Failed }
}

/// Returns the exit code that says more: a failure, then a decision, then done.
fn worse(one: Exit, other: Exit) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Done => 0,
        Exit::DecisionRequired => 1,
        _ => 2,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// Returns the error for an import that nobody at a terminal asks for.
pub(super) fn no_person_to_import() -> Failure {
    no_person_error(
        "With --yes a program imports from a folder that a person allowed: csign data allow FOLDER",
    )
}

/// Returns the error for what only a person may do, with a hint about another way.
pub(super) fn no_person_error(hint: &str) -> Failure {
    AgentError::new(
        ErrorCode::ApprovalRequired,
        "Only a person at a terminal or in the window may do that.",
    )
    .reason("no_terminal")
    .hint(hint)
    .into()
}

/// Imports the files of `csign ask --with`, and says so. Returns an exit code if the question must
/// not be asked.
pub(crate) async fn add_before_question(
    link: &Link,
    out: Out,
    addition: &Addition,
    asking: &mut Asking,
) -> Result<Option<Exit>, Failure> {
    if addition.places.is_empty() {
        return Ok(None);
    }
    let mut interrupts = Interrupts::listen()?;
    for (at, place) in addition.places.iter().enumerate() {
        let imported = match import_place(link, out, addition, place, asking, &mut interrupts).await
        {
            Ok(imported) => imported,
            // The files before are stored.
            Err(Halt::Stopped) if at > 0 => {
                stop_before(out, &addition.places[at..]);
                return Ok(Some(Exit::Failed));
            }
            Err(halt) => return Err(wrap_failure(out, halt.into())),
        };
        let exit = exit_of(&imported.results, false);
        if exit != Exit::Done {
            if out.json {
                let read = imported.results.into_iter().map(FileOutcome::read);
                read.for_each(|outcome| out.event(&outcome));
            } else {
                print_imported(out, &imported, false);
            }
            return Ok(Some(exit));
        }
        for result in &imported.results {
            Paragraph::new(glance::summarise(result)).print_note(out);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use contract::sources::{ImportQuestion, TableReport};

    use super::*;

    fn result(is_stored: bool) -> ImportResult {
        ImportResult {
            source: "ads".into(),
            is_new_source: false,
            report: TableReport::default(),
            decisions: ImportDecisions::default(),
            change: None,
            questions: Vec::new(),
            is_stored,
        }
    }

    #[test]
    fn a_question_about_one_file_of_several_needs_a_decision() {
        let question = ImportQuestion {
            id: "vanished".into(),
            text: "Take them out?".into(),
            choices: Vec::new(),
            option: String::new(),
        };
        let open = ImportResult { questions: vec![question], ..result(false) };
        let results = [result(false), open];
        assert_eq!(exit_of(&results, false), Exit::DecisionRequired);
        assert!(why_not_stored(&results, false).is_some_and(|why| why.contains("decide")));
        assert_eq!(exit_of(&[result(true)], false), Exit::Done);
        assert_eq!(exit_of(&[result(true), result(false)], false), Exit::Failed);
        assert_eq!(why_not_stored(&[result(true)], false), None);
    }

    #[test]
    fn a_failure_counts_more_than_a_decision() {
        assert_eq!(worse(Exit::Done, Exit::DecisionRequired), Exit::DecisionRequired);
        assert_eq!(worse(Exit::Failed, Exit::DecisionRequired), Exit::Failed);
        assert_eq!(worse(Exit::DecisionRequired, Exit::ApprovalRequired), Exit::ApprovalRequired);
    }
}
