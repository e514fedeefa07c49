//! `csign data` and `csign import`: imports tables as sources, asks for figures, and takes imports
//! back. The host does the work; this module asks, waits and prints. Knows no format of files and no
//! database.

mod add;
mod answers;
mod approving;
mod csv;
mod decisions;
mod figures;
mod glance;
mod interrupts;
mod job;
mod paragraph;
mod places;
mod profile;
mod program_output;
mod questions;
mod sources;
mod table;

use std::path::{Path, PathBuf};

use contract::SourceName;

use super::{person_mode, with_link};
use crate::args::{Data, DataAdd, Reading};
use crate::exit::{Exit, Failure};
use crate::link::{self, Link};
use crate::out::Out;

use add::Addition;
pub(super) use add::{Asking, add_before_question};

/// Runs a command about sources.
pub(super) fn run(command: Data, data_dir: PathBuf, out: Out) -> Result<Exit, Failure> {
    run_unwrapped(command, data_dir, out).map_err(|failure| add::wrap_failure(out, failure))
}

fn run_unwrapped(command: Data, data_dir: PathBuf, out: Out) -> Result<Exit, Failure> {
    match command {
        Data::Add(args) => import_places(*args, data_dir, out),
        Data::Profile(args) => {
            linked(data_dir, async |link| profile::profile(link, out, args).await)
        }
        Data::Query(args) => {
            answers::check_printing(out, &args.printing)?;
            linked(data_dir, async |link| answers::query(link, out, args).await)
        }
        Data::Measure(args) => {
            answers::check_printing(out, &args.printing)?;
            linked(data_dir, async |link| answers::measure(link, out, args).await)
        }
        Data::Sample => linked(data_dir, async |link| add::add_sample(link, out).await),
        Data::List => linked(data_dir, async |link| sources::list(link, out).await),
        Data::Describe(named) => {
            linked(data_dir, async |link| sources::describe(link, out, named.name).await)
        }
        Data::Refresh(named) => {
            linked(data_dir, async |link| add::refresh(link, out, named.name).await)
        }
        Data::Undo(named) => {
            linked(data_dir, async |link| sources::undo(link, out, named.name).await)
        }
        Data::Remove(named) => {
            linked(data_dir, async |link| sources::remove(link, out, named.name).await)
        }
        Data::RemoveOld => linked(data_dir, async |link| sources::remove_old(link, out).await),
        Data::Approve { named, hash: Some(hash) } => {
            linked(data_dir, async |link| approving::approve(link, out, named.name, hash).await)
        }
        Data::Approve { named, hash: None } => {
            approving::check_asking(out)?;
            linked(data_dir, async |link| approving::ask(link, out, named.name).await)
        }
        Data::Verify { record } => {
            linked(data_dir, async |link| sources::verify(link, out, record).await)
        }
        Data::Allow { folder, revoke } => {
            let pipes = places::pipe_folder(&data_dir);
            linked(data_dir, async |link| sources::allow(link, out, pipes, folder, revoke).await)
        }
    }
}

/// Runs `csign import`.
pub(super) fn run_add(args: DataAdd, data_dir: PathBuf, out: Out) -> Result<Exit, Failure> {
    import_places(args, data_dir, out).map_err(|failure| add::wrap_failure(out, failure))
}

fn import_places(args: DataAdd, data_dir: PathBuf, out: Out) -> Result<Exit, Failure> {
    let DataAdd { places, name, check, yes, reading } = args;
    let decisions = decisions::read_decisions(&reading)?;
    let places = places::find_places(&places, &data_dir)?;
    // A terminal has taken the place of a pipe.
    let person = link::person_present();
    if !person && !yes {
        return Err(add::no_person_to_import());
    }
    let addition = Addition {
        places,
        name: name.map(SourceName::from),
        decisions,
        forgets: reading.forget_mapping,
        is_check: check,
        asks: person && !yes,
        person,
    };
    with_link(data_dir, person_mode(person), async |link| add::add(link, out, &addition).await)
}

/// Returns the import of the files that `csign ask --with` names.
pub(super) fn prepare_with(files: &[String], data_dir: &Path) -> Result<Addition, Failure> {
    let places = places::find_places(files, data_dir)?;
    let person = link::person_present();
    Ok(Addition {
        places,
        name: None,
        decisions: decisions::read_decisions(&Reading::default())?,
        forgets: false,
        is_check: false,
        asks: person,
        person,
    })
}

fn linked(
    data_dir: PathBuf,
    work: impl AsyncFnOnce(&mut Link) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    with_link(data_dir, person_mode(link::person_present()), work)
}
