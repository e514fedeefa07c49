//! The lines of `csign doctor` about sources: whether the data program is there and how much room rows
//! take, how far its processes are isolated, and the limits of each kind of process.

use contract::{
    Amount, CheckState, DoctorCheck, Text, ToParam as _,
    sources::{
        DATABASE_ROWS, IMPORT_MEMORY, ImportLimits, PROCESS_MEMORY, RESULT_BYTES, RESULT_ROWS,
        TEXT_BYTES,
    },
    text,
};
use guard::{NetworkRestriction, filters_work, landlock_abi, network_restriction};

use super::{Inner, Sources, asking, importer, processes};

/// The bytes of a megabyte of a limit of memory.
const MEBI: u64 = 1 << 20;
/// The units of sizes on the disk.
const SIZES: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];

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
        let mut checks = vec![self.0.check_room(), check_isolation(), self.0.tell_limits()];
        checks.extend(self.0.tell_problems());
        checks
    }
}

impl Inner {
    fn check_room(&self) -> DoctorCheck {
        let room = self.storage_use();
        let message = text!(
            "Sources of data: {count}. Their rows take {used} of at most {limit}.",
            count = self.storage.names().len(),
            used = size_text(room.bytes),
            limit = size_text(room.limit_bytes)
        );
        if room.bytes <= room.limit_bytes {
            return check("data", CheckState::Ok, message);
        }
        // Former rows are deleted at once, so these are rows in force.
        let hint = "Only rows in force are left. Remove sources, or raise snapshot_limit_mb under [data] in countersign.toml.";
        DoctorCheck { hint: Some(hint.into()), ..check("data", CheckState::Warning, message) }
    }

    /// Says which rows of an older version did not become sources.
    fn tell_problems(&self) -> Vec<DoctorCheck> {
        let problems = self.problems.lock();
        let told = problems.iter().map(|(service, problem)| {
            let message = text!(
                "The earlier data of {service} are no sources yet: {problem}",
                service,
                problem
            );
            let hint = "The next start tries it again. The earlier file stays as it is.";
            let check = check("earlier data", CheckState::Warning, message);
            DoctorCheck { hint: Some(hint.into()), ..check }
        });
        told.collect()
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

/// Returns a size on the disk in the unit that people read it in. The window writes the sizes of
/// sources in the same way.
fn size_text(bytes: u64) -> Text {
    let Some((unit, one)) = SIZES.into_iter().find(|(_, one)| bytes >= *one) else {
        return text!("{count} bytes", count = bytes);
    };
    let tenths = (bytes + one / 20) / (one / 10);
    // Three digits say enough of a size.
    let digits = if tenths < 100 {
        format!("{}.{}", tenths / 10, tenths % 10)
    } else {
        ((bytes + one / 2) / one).to_string()
    };
    Text::listed([Amount::new(&digits, 0, Some(unit)).to_param()], "")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_in_the_list_of_sources() {
        let texts = [0, 909, 1_000, 1_540_000, 53_400, 9_960, 20_000_000_000].map(size_text);
        let texts: Vec<&str> = texts.iter().map(Text::as_str).collect();
        assert_eq!(texts, ["0 bytes", "909 bytes", "1 kB", "1.5 MB", "53 kB", "10 kB", "20 GB"]);
    }
}
