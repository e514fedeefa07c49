//! Runs each command with its resources: most commands need a host, and some only read files.

mod alerts;
mod approvals;
mod audit;
mod backtest;
mod data;
mod dev;
mod memory;
mod packs;
mod policy;
mod questions;
mod record_line;
mod replay;
mod run;
mod search;
mod serve;
mod servers;
mod service;
mod sessions;
mod status;
mod tools;

use std::path::PathBuf;

use contract::{AgentError, ErrorCode};
use host::{Paths, Person, WhenAlarmed};

use crate::args::{Approvals, Audit, Command, Dev, Memory, Packs, Policy};
use crate::ask;
use crate::exit::{Exit, Failure};
use crate::link::{self, Link};
use crate::out::Out;

/// Runs a command to its end.
pub(crate) fn run(command: Command, data_dir: PathBuf, out: Out) -> Result<Exit, Failure> {
    match command {
        // Verification only reads files, so it needs neither the profile's lock nor a runtime.
        Command::Audit(Audit::Verify { folder }) => audit::verify_log(out, data_dir, folder),
        Command::Audit(Audit::Export { folder, session, record }) => {
            audit::export_log(out, data_dir, &folder, session, record)
        }
        Command::Packs(args) => run_packs(args, data_dir, out),
        Command::Dev(Dev::McpClient { url }) => dev::mcp_client(out, &url),
        Command::Ask(args) => {
            let text = ask::check_arguments(&args)?;
            let with = data::prepare_with(&args.with, &data_dir)?;
            let person = link::person_present();
            with_link(data_dir, person_mode(person), async |link| {
                let mut asking = data::Asking::new(person);
                match data::add_before_question(link, out, &with, &mut asking).await? {
                    Some(exit) => Ok(exit),
                    None => ask::run(link, out, args, text, (person, asking.into_keys())).await,
                }
            })
        }
        Command::Tools(args) => {
            let person = link::person_present();
            with_link(data_dir, person_mode(person), async |link| {
                tools::run(link, out, args, person).await
            })
        }
        Command::Servers(args) => {
            let person = link::person_present();
            with_link(data_dir, person_mode(person), async |link| {
                servers::run(link, out, args, person).await
            })
        }
        Command::Policy(Policy::Backtest { rules, since }) => {
            with_link(data_dir, Person::Absent, async |link| {
                backtest::test_rules(link, out, &rules, since).await
            })
        }
        Command::Policy(args) => {
            let widens = matches!(args, Policy::Destinations { allow: Some(_), .. })
                && link::person_present();
            let person = if widens { Person::Deciding } else { Person::Absent };
            with_link(data_dir, person, async |link| policy::run(link, out, args).await)
        }
        Command::Replay { run } => with_link(data_dir, Person::Absent, async |link| {
            replay::replay_run(link, out, run).await
        }),
        Command::Approvals(args) => {
            let deciding = matches!(args, Approvals::Approve { .. } | Approvals::Reject { .. })
                && link::person_present();
            let person = if deciding { Person::Deciding } else { Person::Absent };
            with_link(data_dir, person, async |link| approvals::run(link, out, args).await)
        }
        Command::Audit(Audit::Erase { session }) => {
            require_person(
                "Only a person at a terminal may erase a conversation.",
                "Type the command in a terminal.",
            )?;
            with_link(data_dir, Person::Deciding, async |link| {
                audit::erase_session(link, out, session.into()).await
            })
        }
        Command::Audit(args) => {
            with_link(data_dir, Person::Absent, async |link| audit::run(link, out, args).await)
        }
        Command::Memory(args) => {
            let only_reads = matches!(
                args,
                Memory::List { .. } | Memory::Search { .. } | Memory::Show { .. } | Memory::Export
            );
            let person = person_mode(!only_reads && link::person_present());
            with_link(data_dir, person, async |link| memory::run(link, out, args).await)
        }
        Command::Search(args) => {
            with_link(data_dir, Person::Absent, async |link| search::run(link, out, args).await)
        }
        Command::Sessions(args) => {
            with_link(data_dir, Person::Absent, async |link| sessions::run(link, out, args).await)
        }
        Command::Data(args) => data::run(args, data_dir, out),
        Command::Alerts(args) => {
            with_link(data_dir, Person::Absent, async |link| alerts::run(link, out, args).await)
        }
        Command::Import(args) => data::run_add(*args, data_dir, out),
        Command::Run(args) => run::run(args, data_dir, out),
        Command::Serve(args) => Err(serve::become_gateway(&args, &data_dir, out)),
        Command::ServiceLevel => {
            with_link(data_dir, Person::Absent, async |link| service::run(link, out).await)
        }
        // This command also works after an alarm, and reports the alarm.
        Command::Doctor => {
            let paths = Paths::new(Some(data_dir.clone()));
            let mut opened = false;
            let ran = with_link_when(data_dir, Person::Absent, WhenAlarmed::Stop, async |link| {
                opened = true;
                status::run_doctor(link, out).await
            });
            match ran {
                Err(failure) if !opened => Ok(status::report_unopened(&paths, out, &failure)),
                ran => ran,
            }
        }
    }
}

fn run_packs(command: Packs, data_dir: PathBuf, out: Out) -> Result<Exit, Failure> {
    match command {
        Packs::Check { folder, run: false, .. } => packs::check_folder(out, &folder),
        Packs::Check { folder, run: true, allow_private_network } => {
            packs::check_and_run(out, &folder, allow_private_network)
        }
        Packs::New { name, kind, into } => packs::new(out, &data_dir, &name, kind, into),
        Packs::List => {
            with_link(data_dir, Person::Absent, async |link| packs::list(link, out).await)
        }
        Packs::Explain { text } => with_link(data_dir, Person::Absent, async |link| {
            packs::explain_message(link, out, text).await
        }),
    }
}

/// Returns an error unless a person types at a terminal.
fn require_person(message: &str, hint: &str) -> Result<(), Failure> {
    if link::is_person_in_foreground() {
        return Ok(());
    }
    let error = AgentError::new(ErrorCode::ApprovalRequired, message);
    Err(error.reason("no_terminal").hint(hint).into())
}

/// Lets a person at a terminal replace a log that does not verify with a new log. Runs before the
/// command itself.
pub(crate) fn accept_new_log(data_dir: PathBuf, out: Out) -> Result<(), Failure> {
    let message = "Only a person at a terminal may accept a new log.";
    require_person(message, "Type the command in a terminal, or accept in the approval window.")?;
    let accepted = with_link_when(data_dir, Person::Deciding, WhenAlarmed::Stop, async |link| {
        audit::accept_new_log(link, out).await
    });
    accepted.map(|_| ())
}

fn person_mode(person: bool) -> Person {
    if person { Person::Asked } else { Person::Absent }
}

/// Opens a host, runs the work, and closes the host even if the work failed.
fn with_link(
    data_dir: PathBuf,
    person: Person,
    work: impl AsyncFnOnce(&mut Link) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    with_link_when(data_dir, person, WhenAlarmed::Refuse, work)
}

fn with_link_when(
    data_dir: PathBuf,
    person: Person,
    when_alarmed: WhenAlarmed,
    work: impl AsyncFnOnce(&mut Link) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    // A runtime with one thread starts fastest, and a command waits for one turn only.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        AgentError::internal("runtime", format!("csign cannot start: {error}."))
    })?;
    let result = runtime.block_on(async {
        let mut link = Link::open(data_dir, person, when_alarmed).await?;
        let result = work(&mut link).await;
        link.close().await;
        result
    });
    // A background thread may still be waiting for input.
    runtime.shutdown_background();
    result
}
