//! Gives every command of the one list a permission of its own, so that a window can call only what
//! its capability names, and makes a change of the built pages rebuild the app.

use std::path::Path;

#[path = "desktop/shell_commands.rs"]
mod shell_commands;

fn main() {
    println!("cargo:rerun-if-changed=ui/dist");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    if std::env::var_os("CARGO_FEATURE_CUSTOM_PROTOCOL").is_some()
        && !Path::new("ui/dist/index.html").exists()
    {
        println!("cargo:warning=The window's pages are not built yet. Run `make ui` first.");
    }
    let commands: Vec<&'static str> = [
        contract::commands::CHAT_COMMANDS,
        contract::commands::APPROVAL_COMMANDS,
        shell_commands::SHELL,
    ]
    .concat();
    let manifest = tauri_build::AppManifest::new().commands(commands.leak());
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/*.json")
        .app_manifest(manifest);
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo:warning={error:#}");
        std::process::exit(1);
    }
}
