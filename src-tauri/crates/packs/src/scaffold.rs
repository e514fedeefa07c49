//! Creates a new pack that passes every check and works at once. The contents are stored as data
//! files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The kind of the new pack's tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewPack {
    /// A program in the pack's folder.
    Program,
    /// One HTTP request.
    Http,
    /// An MCP server in the pack's folder.
    Mcp,
}

const PROGRAM: &str = include_str!("scaffold/program.json");
const GREET: &str = include_str!("scaffold/greet.sh");
const MCP: &str = include_str!("scaffold/mcp.json");
const SERVER: &str = include_str!("scaffold/server.py");
const HTTP: &str = include_str!("scaffold/http.json");
const INSTRUCTIONS: &str = include_str!("scaffold/execution_instructions.md");

/// Creates a pack named `name` in the folder `into`, and returns its path. An existing folder is an
/// error and is not changed.
pub fn scaffold(into: &Path, name: &str, kind: NewPack) -> io::Result<PathBuf> {
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if !starts
        || name.len() > 64
        || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a pack's name has lower-case letters, digits and hyphens only",
        ));
    }
    fs::create_dir_all(into)?;
    let folder = into.join(name);
    fs::create_dir(&folder)?;
    let put = |file: &str, text: &str| {
        let mut title = name.replace('-', " ");
        title[..1].make_ascii_uppercase();
        fs::write(folder.join(file), text.replace("NAME", name).replace("TITLE", &title))
    };
    match kind {
        NewPack::Program => {
            put("pack.json", PROGRAM)?;
            put("greet.sh", GREET)?;
            make_executable(&folder.join("greet.sh"))?;
        }
        NewPack::Http => put("pack.json", HTTP)?,
        NewPack::Mcp => {
            put("pack.json", MCP)?;
            put("server.py", SERVER)?;
            make_executable(&folder.join("server.py"))?;
        }
    }
    put("execution_instructions.md", INSTRUCTIONS)?;
    Ok(folder)
}

#[cfg(unix)]
fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}
