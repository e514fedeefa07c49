//! The options of an open host.

use std::{path::PathBuf, sync::Arc, time::Duration};

use contract::pack_code::PackCode;
use engine::ports::{Clock, Ids, NoProbe, Probe, Random};

use crate::os_ports::{OsRandom, SystemClock, UuidIds};
use crate::sessions::Sessions;

/// How to open a profile whose log does not verify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenAlarmed {
    /// The profile is not opened.
    #[default]
    Refuse,
    /// The profile is opened for viewing, and for a person to accept a new log. Nothing runs until
    /// then.
    Stop,
}

/// The differences between a window, a terminal and a test.
#[derive(Clone)]
pub struct Options {
    /// The user's own folder if absent.
    pub data_dir: Option<PathBuf>,
    /// The folder of the app's programs, where programs of packs are also found.
    pub program_dir: PathBuf,
    /// Folders with packs, the user's own first. If empty, the data folder's and those that ship.
    pub pack_dirs: Vec<PathBuf>,
    /// The packs, by id, that remote callers can reach; only their servers are started at once. If
    /// empty, all packs.
    pub callers_packs: Vec<String>,
    /// The code of the packs that ship.
    pub pack_code: PackCode,
    /// Whether calls serve the chat API, whose contract asks more of a pack's adapter than the
    /// window does.
    pub is_chat_api: bool,
    /// Whether servers are started in the background at once, instead of with the first call.
    pub warm_up: bool,
    pub sessions: Sessions,
    pub when_alarmed: WhenAlarmed,
    /// Whether credentials and model keys may come from environment variables: for terminals and
    /// servers, not for the window.
    pub credentials_from_environment: bool,
    /// How long a caller accepts a model's silence. If absent, the profile's settings decide.
    pub model_silence: Option<Duration>,
    /// Time limits for servers that replace programs of packs.
    pub patience: mcp::Patience,
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
            callers_packs: Vec::new(),
            pack_code: PackCode::default(),
            is_chat_api: false,
            warm_up: false,
            sessions: Sessions::default(),
            when_alarmed: WhenAlarmed::default(),
            credentials_from_environment: false,
            model_silence: None,
            patience: mcp::Patience::default(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidIds),
            random: Arc::new(OsRandom),
            probe: Arc::new(NoProbe),
        };
        #[cfg(debug_assertions)]
        let options = crate::testing::apply(options);
        options
    }
}
