//! How a host is opened.

use std::{path::PathBuf, sync::Arc, time::Duration};

use contract::pack_code::PackCode;
use engine::ports::{Clock, Ids, NoProbe, Probe, Random};

use crate::os_ports::{OsRandom, SystemClock, UuidIds};
use crate::sessions::Sessions;

/// What becomes of a profile whose log does not verify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenAlarmed {
    /// It is not opened.
    #[default]
    Refuse,
    /// It is opened to be looked at, and for a person to accept a new log. Nothing runs until then.
    Stop,
}

/// What differs between a window, a terminal and a test.
#[derive(Clone)]
pub struct Options {
    /// The user's own folder when absent.
    pub data_dir: Option<PathBuf>,
    /// Where programs of packs are found: the app's own folder.
    pub program_dir: PathBuf,
    /// Folders with packs, the user's own first. Empty: the data folder's and those that ship.
    pub pack_dirs: Vec<PathBuf>,
    /// The packs, by id, that callers elsewhere reach; their servers alone are started at once. Empty: all of them.
    pub callers_packs: Vec<String>,
    /// The code of the packs that ship.
    pub pack_code: PackCode,
    /// Calls serve callers of the chat API, whose contract asks more of a pack's adapter than the window does.
    pub is_chat_api: bool,
    /// Start servers in the background at once, instead of with the first call.
    pub warm_up: bool,
    pub sessions: Sessions,
    pub when_alarmed: WhenAlarmed,
    /// Credentials of tools and keys of models may come from environment variables: for terminals and servers, not for the window.
    pub credentials_from_environment: bool,
    /// How long whoever waits for an answer bears a model's silence. Absent: the profile's settings say it.
    pub model_silence: Option<Duration>,
    /// With servers that stand in for programs of packs.
    pub patience: mcp::Patience,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub random: Arc<dyn Random>,
    pub probe: Arc<dyn Probe>,
}

impl Default for Options {
    fn default() -> Self {
        let program_dir = std::env::current_exe().ok().and_then(|exe| exe.parent().map(PathBuf::from)).unwrap_or_default();
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
