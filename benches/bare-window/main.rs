//! A Tauri window with one line of text, with which Countersign's window is compared.

fn main() {
    let started = tauri::Builder::default()
        .run(tauri::generate_context!("benches/bare-window/tauri.conf.json"));
    if let Err(error) = started {
        eprintln!("the bare window could not be opened: {error}");
        std::process::exit(1);
    }
}
