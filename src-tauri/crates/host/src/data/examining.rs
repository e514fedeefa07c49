//! The lines of `csign doctor` about sources: whether the data program is there and how much room rows
//! take, how far its processes are isolated, and the limits of each kind of process.

use contract::{
    Amount, CheckState, DoctorCheck, Text,
    sources::{
        DATABASE_ROWS, IMPORT_MEMORY, ImportLimits, PROCESS_MEMORY, RESULT_BYTES, RESULT_ROWS,
        TEXT_BYTES,
    },
    text,
};
use guard::{NetworkRestriction, filters_work, landlock_abi, network_restriction};

use super::{Inner, Sources, asking, importer, processes};

/// The bytes of a megabyte of a limit of memory, and of a megabyte on the disk.
const MEBI: u64 = 1 << 20;
const MEGA: u64 = 1_000_000;

impl Sources {
    /// Checks what importers and questions depend on.
    pub(crate) fn examine(&self) -> Vec<DoctorCheck> {
        if self.0.is_closed {
            let message = "Sources of data are not used for visitors of the chat API.";
            return vec![check("data", CheckState::Ok, message.into())];
        }
        if let Err(error) = self.0.processes.program() {
            let hint = error.hint_as_text();
            return vec![DoctorCheck { hint, ..check("data", CheckState::Warning, error.text()) }];
        }
        vec![self.0.check_room(), check_isolation(), self.0.tell_limits()]
    }
}

impl Inner {
    fn check_room(&self) -> DoctorCheck {
        let room = self.storage_use();
        let message = text!(
            "Sources of data: {count}. Their rows take {used} of at most {limit} MB.",
            count = self.storage.names().len(),
            used = Amount::whole(room.bytes.div_ceil(MEGA)),
            limit = Amount::whole(room.limit_bytes / MEGA)
        );
        if room.bytes <= room.limit_bytes {
            return check("data", CheckState::Ok, message);
        }
        // Former rows are deleted at once, so these are rows in force.
        let hint = "Only rows in force are left. Remove sources, or raise snapshot_limit_mb under [data] in countersign.toml.";
        DoctorCheck { hint: Some(hint.into()), ..check("data", CheckState::Warning, message) }
    }

    fn tell_limits(&self) -> DoctorCheck {
        let import = ImportLimits::default();
        let message = text!(
            "A question may use {memory} MB of memory, {seconds} seconds, {spill} MB of temporary files and {files} open files; its result has at most {rows} rows, of a database {database_rows}, and {result} MB. An import may use {import_memory} MB of memory and {minutes} minutes, read {input} GB, or {text} GB of text, and write files of {written} GB. A process that nobody asks for {idle} seconds is ended.",
            memory = Amount::whole((processes::QUERY_MEMORY + PROCESS_MEMORY) / MEBI),
            seconds = asking::LIMIT.as_secs(),
            spill = Amount::whole(processes::SPILL / MEBI),
            files = processes::FILES,
            rows = Amount::whole(RESULT_ROWS),
            database_rows = Amount::whole(DATABASE_ROWS),
            result = RESULT_BYTES / MEBI,
            import_memory = Amount::whole((IMPORT_MEMORY + PROCESS_MEMORY) / MEBI),
            minutes = importer::LIMIT.as_secs() / 60,
            input = import.input_bytes >> 30,
            text = TEXT_BYTES >> 30,
            written = importer::FILE_BYTES >> 30,
            idle = self.processes.idle().as_secs()
        );
        check("data limits", CheckState::Ok, message)
    }
}

fn check_isolation() -> DoctorCheck {
    let is_strong = landlock_abi() > 0 && filters_work();
    let files = if is_strong {
        "Imports see only their file and a folder of their own, questions only read stored rows, and neither has a network. Processes of databases see no file of yours."
    } else {
        "This kernel cannot keep importers from your files and the network."
    };
    let network = match network_restriction() {
        NetworkRestriction::OwnNetwork => "Database processes have a network of their own.",
        NetworkRestriction::Port => "Database processes connect to one port only.",
        NetworkRestriction::Missing => "The network of database processes is not restricted.",
    };
    let is_weak = !is_strong || network_restriction() == NetworkRestriction::Missing;
    let state = if is_weak { CheckState::Warning } else { CheckState::Ok };
    let message =
        text!("{files} {network}", files = Text::from(files), network = Text::from(network));
    check("data isolation", state, message)
}

fn check(name: &str, state: CheckState, message: Text) -> DoctorCheck {
    DoctorCheck { name: name.into(), state, message, hint: None }
}
