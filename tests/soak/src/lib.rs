//! Code that the long tests share: the number of cases, their seed, and a disk whose power can be
//! cut. `make soak` (SOAK=1) runs every case, `make test` a tenth of the cases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "only tests use this crate, and a test fails by panicking"
)]

mod disk;
mod random;
mod vfs;

pub use disk::{Cut, Disk, Image};
pub use random::Random;

/// The divisor for a run of `make test`.
const TENTH: u64 = 10;

/// The cases of one long test. A plan prints how to repeat them.
pub struct Plan {
    name: &'static str,
    cases: u64,
    seed: u64,
}

impl Plan {
    /// Plans `full` cases with `SOAK=1`, or else a tenth of them. `SOAK_SEED` chooses other cases.
    /// Without this variable, `make test` always runs the same cases and `make soak` runs new ones
    /// each time.
    pub fn new(name: &'static str, full: u64) -> Self {
        let soaking = std::env::var("SOAK").is_ok_and(|value| value == "1");
        let cases = if soaking { full } else { full.div_ceil(TENTH) };
        let given = std::env::var("SOAK_SEED").ok().filter(|text| !text.is_empty());
        let seed = match given {
            Some(text) => text.parse().expect("SOAK_SEED is a number"),
            None if soaking => now(),
            None => 1,
        };
        eprintln!(
            "{name}: {cases} cases; to repeat them: SOAK={} SOAK_SEED={seed}",
            u8::from(soaking)
        );
        Self { name, cases, seed }
    }

    pub fn cases(&self) -> u64 {
        self.cases
    }

    /// Returns the random numbers of one case. They depend on the seed only, and not on other
    /// cases.
    pub fn random(&self, case: u64) -> Random {
        let name = self.name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Random::new(self.seed ^ name).fork(case)
    }

    /// Returns the name of a case for failure messages.
    pub fn case(&self, case: u64) -> String {
        format!("{} case {case} (SOAK_SEED={})", self.name, self.seed)
    }
}

fn now() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |since| since.as_secs())
}
