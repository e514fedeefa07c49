//! The program `csign`. Everything is in the library, so that it can be tested.

fn main() -> std::process::ExitCode {
    cli::run()
}
