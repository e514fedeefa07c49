//! The options with which a host is opened.

use std::{path::PathBuf, sync::Arc, time::Duration};

use contract::{PackId, pack_code::PackCode};
use engine::ports::{Clock, Ids, NoProbe, Probe, Random};

use super::os_ports::{OsRandom, SystemClock, UuidIds};
use super::sessions::Sessions;

/// How long a process that answers questions about data usually runs while nobody asks it.
const DATA_IDLE: Duration = Duration::from_secs(300);
/// The usual maximum size of the rows in an export of figures, in bytes.
const DATA_EXPORT_BYTES: u64 = 1_000_000_000;

/// How to open a profile whose log does not verify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenAlarmed {
    /// The profile is not opened.
    #[default]
    Refuse,
    /// The profile is opened for viewing and for accepting a new log. No call runs until a person
    /// has accepted a new log.
    Stop,
}

/// The options that differ between a window, a terminal and a test.
#[derive(Clone)]
pub struct Options {
    /// The data folder. None for the user's default folder.
    pub data_dir: Option<PathBuf>,
    /// The folder of the app's programs, which may also contain programs of packs.
    pub program_dir: PathBuf,
    /// Folders with packs. Instructions of packs in earlier folders take precedence; if several
    /// packs have the same id, the pack in the last folder is used. If empty, the data folder's
    /// packs and the shipped packs are used.
    pub pack_dirs: Vec<PathBuf>,
    /// The packs that the process serves to callers of the chat API. Only the servers of these
    /// packs are started at once, and servers that the profile's owner added are not used. None if
    /// the process serves the profile's owner.
    pub served_packs: Option<Arc<[PackId]>>,
    /// The code of the shipped packs.
    pub pack_code: PackCode,
    /// Whether servers are started in the background at once, and not only at their first call.
    pub warm_up: bool,
    pub sessions: Sessions,
    pub when_alarmed: WhenAlarmed,
    /// Whether credentials and model keys may be read from environment variables, as in terminals
    /// and servers but not in the window.
    pub credentials_from_environment: bool,
    /// Whether `OPENAI_BASE_URL` and `OPENAI_MODEL` choose an OpenAI-compatible server if the
    /// profile uses the offline model, as in terminals but not in the window.
    pub model_from_environment: bool,
    /// How long a caller accepts a silent model. If None, the profile's settings decide.
    pub model_silence: Option<Duration>,
    /// The timeouts and retries for servers that replace programs of packs.
    pub patience: mcp::Patience,
    /// How long a process that answers questions about data runs while nobody asks it.
    pub data_idle: Duration,
    /// The maximum size of the rows in an export of figures, in bytes.
    pub data_export_bytes: u64,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub random: Arc<dyn Random>,
    pub probe: Arc<dyn Probe>,
}

impl Default for Options {
    fn default() -> Self {
        let program_dir = std::env::current_exe()
            .ok()
            .and_then(|exe| exe.parent().map(PathBuf::from))
            .unwrap_or_default();
        let options = Self {
            data_dir: None,
            program_dir,
            pack_dirs: Vec::new(),
            served_packs: None,
            pack_code: PackCode::default(),
            warm_up: false,
            sessions: Sessions::default(),
            when_alarmed: WhenAlarmed::default(),
            credentials_from_environment: false,
            model_from_environment: false,
            model_silence: None,
            patience: mcp::Patience::default(),
            data_idle: DATA_IDLE,
            data_export_bytes: DATA_EXPORT_BYTES,
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidIds),
            random: Arc::new(OsRandom),
            probe: Arc::new(NoProbe),
        };
        #[cfg(debug_assertions)]
        let options = {
            let super::testing::TestPorts { clock, ids, probe } = super::testing::read_test_ports();
            Self {
                clock: clock.unwrap_or(options.clock),
                ids: ids.unwrap_or(options.ids),
                probe: probe.unwrap_or(options.probe),
                ..options
            }
        };
        options
    }
}
