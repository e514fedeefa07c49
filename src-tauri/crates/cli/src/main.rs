//! The program `csign`. Everything is in the library, so that it can be tested.

/// A turn is made of many short-lived pieces, and the system's allocator took a fifth of its time.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Read by the allocator at the start: few arenas, and what has been free for a second goes back to the system.
#[unsafe(export_name = "_rjem_malloc_conf")]
static ALLOCATOR_SETTINGS: &[u8; 70] = b"narenas:2,background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0\0";

fn main() -> std::process::ExitCode {
    cli::run()
}
