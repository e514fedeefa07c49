//! The options with which a host is opened.

use std::{path::PathBuf, sync::Arc, time::Duration};

use contract::{PackId, pack_code::PackCode};
use engine::ports::{Clock, Ids, NoProbe, Probe, Random};

use super::os_ports::{OsRandom, SystemClock, UuidIds};
use super::sessions::Sessions;

/// How to open a profile whose log does not verify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenAlarmed {
    /// The profile is not opened.
    #[default]
    Refuse,
    /// The profile is opened for viewing and for accepting a new log. No call runs until a person
    /// has accepted one.
    Stop,
}

/// The options that differ between a window, a terminal and a test.
#[derive(Clone)]
pub struct Options {
    /// The data folder. None for the user's own folder.
    pub data_dir: Option<PathBuf>,
    /// The folder of the app's programs, which may also contain programs of packs.
    pub program_dir: PathBuf,
    /// Folders with packs. Instructions of the first count most; of packs with one id, the one in
    /// the last folder is used. If empty, the data folder's packs and the shipped
    /// ones are used.
    pub pack_dirs: Vec<PathBuf>,
    /// The packs that the process serves to callers of the chat API. Only their servers are started at
    /// once, and servers of the profile's owner are not used. None if it serves the profile.
    pub served_packs: Option<Arc<[PackId]>>,
    /// The code of the shipped packs.
    pub pack_code: PackCode,
    /// Whether servers are started in the background at once instead of at their first call.
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
    /// The time limits for servers that replace programs of packs.
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
            served_packs: None,
            pack_code: PackCode::default(),
            warm_up: false,
            sessions: Sessions::default(),
            when_alarmed: WhenAlarmed::default(),
            credentials_from_environment: false,
            model_from_environment: false,
            model_silence: None,
            patience: mcp::Patience::default(),
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
