//! The program `csign`. All code is in the library, so that it can be tested.

/// The allocator of the program. The system's allocator would take a fifth of a turn's time,
/// because a turn makes many short-lived objects.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The allocator's settings, which it reads when the program starts: few arenas, and memory that
/// was free for a second is returned to the system.
#[unsafe(export_name = "_rjem_malloc_conf")]
static ALLOCATOR_SETTINGS: &[u8; 70] =
    b"narenas:2,background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0\0";

fn main() -> std::process::ExitCode {
    cli::run()
}
