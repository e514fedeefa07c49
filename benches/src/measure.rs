//! Time, processor time and memory, and statistics of many measurements.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// One side of a comparison, as its process reports it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Side {
    /// Microseconds of each repetition.
    pub(crate) micros: Vec<u64>,
    /// Processor time of all repetitions, in microseconds.
    pub(crate) cpu_micros: u64,
    /// Peak resident memory of the process, KiB.
    pub(crate) peak_kib: u64,
    /// The bytes by which the databases grew over all repetitions.
    #[serde(default)]
    pub(crate) stored: u64,
}

impl Side {
    pub(crate) fn add(&mut self, other: Side) {
        self.micros.extend(other.micros);
        self.cpu_micros += other.cpu_micros;
        self.peak_kib = self.peak_kib.max(other.peak_kib);
        self.stored += other.stored;
    }

    /// Returns the KiB that one repetition stored.
    pub(crate) fn kib_each(&self) -> u64 {
        self.stored / 1024 / u64::try_from(self.micros.len().max(1)).unwrap_or(1)
    }

    /// Returns the processor time of one repetition.
    pub(crate) fn cpu_each(&self) -> Duration {
        Duration::from_micros(
            self.cpu_micros / u64::try_from(self.micros.len().max(1)).unwrap_or(1),
        )
    }

    /// Returns the median of the repetitions.
    pub(crate) fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    pub(crate) fn quantile(&self, part: f64) -> Duration {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index into a short list"
        )]
        let at = ((sorted.len().saturating_sub(1)) as f64 * part) as usize;
        Duration::from_micros(sorted.get(at).copied().unwrap_or_default())
    }
}

/// Measures the duration of a call.
pub(crate) fn time_call<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Returns the shortest of several runs, which was disturbed least.
pub(crate) fn best<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    (0..runs).map(|_| time_call(|| std::hint::black_box(work())).1).min().unwrap_or_default()
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Returns the processor time of this process so far (user and system), excluding its children.
pub(crate) fn cpu() -> Duration {
    let usage = usage(libc::RUSAGE_SELF);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Returns the peak resident memory of this process in KiB.
pub(crate) fn peak_kib() -> u64 {
    u64::try_from(usage(libc::RUSAGE_SELF).ru_maxrss).unwrap_or_default()
}

fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: `getrusage` fills the struct; all-zero is a valid value of it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    }
}

fn time(time: libc::timeval) -> Duration {
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or_default())
        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or_default())
}

/// Waits for a child. Returns its status and its peak resident memory in KiB.
pub(crate) fn wait_with_peak(child: &std::process::Child) -> std::io::Result<(i32, u64)> {
    let mut status = 0;
    // SAFETY: `wait4` writes to the two given places; the child belongs to this process and is
    // waited for only here.
    let (pid, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let pid = libc::wait4(
            libc::pid_t::try_from(child.id()).unwrap_or_default(),
            &raw mut status,
            0,
            &raw mut usage,
        );
        (pid, usage)
    };
    if pid < 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok((status, u64::try_from(usage.ru_maxrss).unwrap_or_default()))
}
