//! Finds the files and folders that an added server is started from, so that no other server can
//! change them: its program, its scripts, and the projects they belong to. Reads the command and
//! the variables. Must not know how the places are protected.

use std::{
    env,
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use mcp::Word;

use super::{
    storage::{self, StoredServer},
    variables::finds_code,
};
use crate::{
    profile::Paths,
    servers::search_path::{can_be_closed, is_around_home, libraries_beside},
};

/// Files that mark a folder as a project from which programs are started.
const PROJECT: [&str; 11] = [
    "__main__.py",
    "Cargo.toml",
    "composer.json",
    "deno.json",
    "Gemfile",
    "go.mod",
    "index.js",
    "package.json",
    "pyproject.toml",
    "pyvenv.cfg",
    "setup.py",
];

/// Extensions of files that contain code.
const CODE: &[&str] = &[
    "bash", "cjs", "class", "cts", "dll", "dylib", "egg", "exe", "fish", "jar", "jl", "js", "jsx",
    "ksh", "kts", "lua", "mjs", "mts", "node", "phar", "php", "pl", "pm", "ps1", "py", "pyc",
    "pyw", "pyz", "r", "rb", "sh", "so", "ts", "tsx", "war", "wasm", "whl", "zsh",
];

/// Extensions of files that never count as code, whatever their mode is, because other servers work
/// with the files beside them.
const DATA: &[&str] = &[
    "bak", "csv", "db", "db3", "gif", "htm", "html", "jpeg", "jpg", "json", "jsonl", "log", "md",
    "parquet", "pdf", "png", "sqlite", "sqlite3", "tsv", "txt", "xlsx", "xml", "yaml", "yml",
];

/// Programs whose first argument is a script.
const INTERPRETERS: &[&str] = &[
    "bash", "bun", "dash", "deno", "dotnet", "fish", "java", "julia", "ksh", "lua", "node",
    "nodejs", "perl", "php", "pwsh", "pypy", "python", "Rscript", "ruby", "sh", "tsx", "zsh",
];

/// How a shell command writes the home folder, besides `~`.
const HOME_IN_SHELLS: [&str; 4] = ["\"${HOME}\"", "\"$HOME\"", "${HOME}", "$HOME"];

/// Options before or around a place where code is searched.
const SEARCHES: &[&str] = &["-I", "-L", "-cp", "-classpath", "--class-path"];

/// Returns the places that the added servers are started from, including disabled servers, except
/// for the server `but`.
pub(crate) fn find_programs(paths: &Paths, but: Option<&str>) -> Vec<PathBuf> {
    let stored = storage::read_all(&paths.own_servers());
    let others = stored.iter().filter(|stored| Some(stored.name.as_str()) != but);
    others.filter(|stored| stored.is_program()).flat_map(programs_of).collect()
}

/// Returns the folders that a server's command names: the folders in its arguments, alone or as the
/// value of an option, and the folder in which it runs.
pub(super) fn named_folders(stored: &StoredServer) -> Vec<PathBuf> {
    let places = plain_args(stored).flat_map(whole_places).chain(stored.cwd.clone());
    places.filter(|place| place.is_dir()).collect()
}

fn programs_of(stored: &StoredServer) -> Vec<PathBuf> {
    let named = named_code(stored).into_iter().chain(code_in_variables(stored));
    let places = std::iter::once(stored.program.clone()).chain(named);
    let mut found = Vec::new();
    for place in places.flat_map(|place| [place.canonicalize().ok(), Some(place)]).flatten() {
        found.extend(folders_around(&place));
        found.push(place);
    }
    found.retain(|place| can_be_closed(place));
    found.sort();
    found.dedup();
    found
}

/// Returns the projects around a place. A script or program outside of any project loads files
/// beside it, and programs such as npx start their interpreter from there.
fn folders_around(place: &Path) -> Vec<PathBuf> {
    let above = place.ancestors().skip(1).take_while(|above| !is_around_home(above));
    let mut found: Vec<PathBuf> =
        above.filter(|folder| is_project(folder)).map(Path::to_owned).collect();
    let is_file = place.is_file() || has_extension(place, CODE);
    let folder = if is_file { place.parent().unwrap_or(place) } else { place };
    if is_file && found.is_empty() {
        found.push(folder.to_owned());
    }
    found.extend(libraries_beside(folder));
    found
}

/// Returns the code that the arguments name. The code need not exist yet.
fn named_code(stored: &StoredServer) -> Vec<PathBuf> {
    let script = is_interpreter(&stored.program)
        .then(|| plain_args(stored).find(|arg| !arg.starts_with('-')))
        .flatten();
    let mut found: Vec<PathBuf> =
        stored.cwd.iter().filter(|cwd| loads_from(cwd, stored)).cloned().collect();
    let mut before = "";
    for arg in plain_args(stored) {
        let is_searched =
            SEARCHES.iter().any(|option| before == *option || arg.starts_with(*option));
        let below = file_below(stored.cwd.as_deref(), arg);
        let is_script = |place: &Path| {
            script == Some(arg) && (place == Path::new(arg) || below.as_deref() == Some(place))
        };
        found.extend(places_in(arg).into_iter().chain(below.clone()).filter(|place| {
            if place.is_dir() {
                let holds_code = is_project(place) || holds_script(place, stored);
                is_searched || holds_code || runs_module(arg)
            } else {
                let counts = is_searched || is_script(place) || is_code(place);
                counts && !has_extension(place, DATA)
            }
        }));
        before = arg;
    }
    found
}

/// Returns the places in variables that decide which code is loaded.
fn code_in_variables(stored: &StoredServer) -> impl Iterator<Item = PathBuf> {
    let variables = stored.env.iter().filter(|(name, _)| finds_code(name));
    let places = variables.flat_map(|(_, value)| places_in(value));
    places.filter(|place| place.is_dir() || !has_extension(place, DATA))
}

fn plain_args(stored: &StoredServer) -> impl Iterator<Item = &str> {
    stored.args.iter().filter_map(|arg| match arg {
        Word::Plain(text) => Some(text.as_str()),
        Word::WithKeys(_) => None,
    })
}

/// Returns the absolute paths that are the whole text, or the text after its first `=`.
fn whole_places(text: &str) -> impl Iterator<Item = PathBuf> {
    let value = text.split_once('=').map(|(_, value)| value);
    [Some(text), value].into_iter().flatten().filter_map(absolute_path)
}

/// Returns the absolute paths in a text, such as a list, an address or a command of a shell. Paths
/// with spaces are found if they exist.
fn places_in(text: &str) -> Vec<PathBuf> {
    let home = env::home_dir().unwrap_or_default();
    let expanded = HOME_IN_SHELLS
        .iter()
        .fold(text.to_owned(), |text, name| text.replace(name, &home.to_string_lossy()));
    let parts = words(&expanded).filter_map(|part| match part.strip_prefix("~/") {
        Some(below) => Some(home.join(below).components().collect()),
        None => absolute_path(without_option(part)),
    });
    let mut found: Vec<PathBuf> =
        whole_places(text).filter(|place| place.exists()).chain(parts).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the words of a list, an address or a shell command.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| sign.is_whitespace() || ":=,;'\"`()|&<>".contains(sign))
}

/// Returns the path after a one-letter option, as in `-I/folder`.
fn without_option(part: &str) -> &str {
    let is_option =
        part.starts_with('-') && part.get(2..).is_some_and(|rest| rest.starts_with('/'));
    if is_option { part.get(2..).unwrap_or(part) } else { part }
}

/// Returns an absolute path without doubled slashes. Two slashes begin the host of an address, and
/// three slashes begin the path of an address without a host.
fn absolute_path(text: &str) -> Option<PathBuf> {
    let is_host = text.starts_with("//") && !text.starts_with("///");
    (text.starts_with('/') && !is_host).then(|| Path::new(text).components().collect())
}

/// Whether a program that runs in this folder loads code from it.
fn loads_from(cwd: &Path, stored: &StoredServer) -> bool {
    let runs_module = is_interpreter(&stored.program) && plain_args(stored).any(|arg| arg == "-m");
    is_project(cwd) || holds_script(cwd, stored) || runs_module
}

/// Returns the file that an argument names, relative to the folder in which the program runs.
fn file_below(cwd: Option<&Path>, arg: &str) -> Option<PathBuf> {
    let is_below = !arg.is_empty() && !arg.starts_with('-') && Path::new(arg).is_relative();
    let file: PathBuf = cwd.filter(|_| is_below)?.join(arg).components().collect();
    file.is_file().then_some(file)
}

fn is_project(folder: &Path) -> bool {
    !is_around_home(folder) && PROJECT.iter().any(|file| folder.join(file).is_file())
}

/// Whether another argument names a file in this folder, as in `--directory FOLDER run FILE`, or a
/// shell command names code in it, as in `cd FOLDER && python3 FILE`.
fn holds_script(folder: &Path, stored: &StoredServer) -> bool {
    let file = |text: &str| {
        let place = folder.join(text);
        (Path::new(text).is_relative() && place.is_file()).then_some(place)
    };
    let is_named_code = |word: &str| {
        file(word).is_some_and(|place| is_code(&place) && !has_extension(&place, DATA))
    };
    plain_args(stored).any(|text| file(text).is_some() || words(text).any(is_named_code))
}

/// Whether a shell command runs a module from its working folder.
fn runs_module(command: &str) -> bool {
    command.contains(char::is_whitespace) && words(command).any(|word| word == "-m")
}

fn is_interpreter(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    INTERPRETERS.contains(&name)
}

/// Whether a file contains code, judged by its name, mode or first bytes.
fn is_code(place: &Path) -> bool {
    let is_executable = || {
        place
            .metadata()
            .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    has_extension(place, CODE) || is_executable() || has_interpreter(place)
}

/// Whether the first line of a file names its interpreter.
fn has_interpreter(file: &Path) -> bool {
    let mut begin = [0; 2];
    let read = files::open(file).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *b"#!"
}

fn has_extension(place: &Path, known: &[&str]) -> bool {
    let extension = place.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    known.contains(&extension.as_str())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use contract::NewServer;

    use super::*;

    /// A folder with some programs, projects and files.
    struct TestTree {
        _folder: tempfile::TempDir,
        root: PathBuf,
    }

    impl TestTree {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for file in [
                "docs/a.txt",
                "docs/notes.db",
                "library/part.py",
                "loose/run.py",
                "loose/plain",
                "outer/inner/package.json",
                "outer/package.json",
                "project/dist/x.js",
                "project/package.json",
                "tools/bin/tool",
            ] {
                fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
                fs::write(root.join(file), "").unwrap();
            }
            fs::write(root.join("loose/marked"), "#!/bin/sh\n").unwrap();
            let program = fs::Permissions::from_mode(0o755);
            fs::set_permissions(root.join("tools/bin/tool"), program).unwrap();
            Self { _folder: folder, root }
        }

        fn text(&self, path: &str) -> String {
            self.root.join(path).display().to_string()
        }

        /// Returns the places below the folder that a server is started from. `@` means the folder.
        fn found(&self, command: &str, args: &[&str], env: &[(&str, &str)]) -> Vec<String> {
            let fill = |text: &str| text.replace('@', &self.text(""));
            let server = NewServer {
                name: "one".into(),
                command: fill(command),
                args: args.iter().map(|arg| fill(arg)).collect(),
                env: env.iter().map(|(name, value)| ((*name).into(), fill(value))).collect(),
                ..NewServer::default()
            };
            let stored = crate::servers::added::separating::separate_keys(&server).unwrap().stored;
            let found = programs_of(&stored);
            let below = found.iter().filter_map(|place| place.strip_prefix(&self.root).ok());
            below.map(|place| place.display().to_string()).collect()
        }

        fn found_in_args(&self, args: &[&str]) -> Vec<String> {
            self.found("/bin/sh", args, &[])
        }
    }

    #[test]
    fn programs_scripts_and_projects_of_a_server_are_found_but_not_its_data_folders() {
        let tree = TestTree::new();
        let library = [("PYTHONPATH", "@library")];
        let script = ["@project/dist/x.js", "@docs", "@missing", "/"];
        assert_eq!(
            tree.found("/bin/sh", &script, &library),
            ["library", "project", "project/dist/x.js"]
        );
        let folder = ["--directory=@loose", "run.py"];
        assert_eq!(tree.found("/bin/sh", &folder, &library), ["library", "loose"]);
    }

    #[test]
    fn enclosing_projects_script_folders_and_program_libraries_are_found() {
        let tree = TestTree::new();
        let inner = ["outer", "outer/inner", "outer/inner/new.js"];
        assert_eq!(tree.found_in_args(&["@outer/inner/new.js"]), inner);
        assert_eq!(tree.found_in_args(&["@loose/run.py"]), ["loose", "loose/run.py"]);
        assert_eq!(
            tree.found("@tools/bin/tool", &[], &[]),
            ["tools/bin", "tools/bin/tool", "tools/lib"]
        );
    }

    #[test]
    fn code_paths_that_do_not_exist_yet_are_found() {
        let tree = TestTree::new();
        assert_eq!(tree.found_in_args(&["@new/run.py"]), ["new", "new/run.py"]);
        let env = [("PATH", "/usr/bin:@absent/bin"), ("PYTHONPATH", "@absent/python")];
        assert_eq!(tree.found("/bin/sh", &[], &env), ["absent/bin", "absent/lib", "absent/python"]);
    }

    #[test]
    fn code_paths_are_resolved_from_the_servers_working_folder() {
        let tree = TestTree::new();
        let found = |cwd: &str, args: &[&str]| {
            let server = NewServer {
                name: "one".into(),
                command: "/bin/sh".into(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                cwd: tree.text(cwd),
                ..NewServer::default()
            };
            let stored = crate::servers::added::separating::separate_keys(&server).unwrap().stored;
            assert!(named_folders(&stored).contains(&tree.root.join(cwd)));
            let found = programs_of(&stored);
            let below = found.iter().filter_map(|it| it.strip_prefix(&tree.root).ok());
            below.map(|it| it.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("project", &["dist/x.js"]), ["project", "project/dist/x.js"]);
        assert_eq!(found("loose", &["./run.py"]), ["loose", "loose/run.py"]);
        assert_eq!(found("library", &["-m", "part"]), ["library"]);
        assert!(found("docs", &["a.txt", "--list"]).iter().all(|it| it == "docs"));
        assert!(found("docs", &["--list"]).is_empty());
    }

    #[test]
    fn data_files_in_arguments_do_not_count_as_code() {
        let tree = TestTree::new();
        let data = ["--db-path", "@docs/notes.db", "--log=@docs/new.log", "--list", "@loose/plain"];
        assert!(tree.found_in_args(&data[..2]).is_empty());
        assert!(tree.found("@tools/bin/tool", &data, &[]).iter().all(|it| it.starts_with("tools")));
        assert!(tree.found_in_args(&["@docs/a.txt"]).is_empty());
        assert_eq!(tree.found_in_args(&["@loose/plain"]), ["loose", "loose/plain"]);
        assert_eq!(
            tree.found("@tools/bin/tool", &["--run", "@loose/marked"], &[])[..2],
            ["loose", "loose/marked"]
        );
        let direct = env::temp_dir().join("countersign-script.js").display().to_string();
        let server = NewServer {
            name: "one".into(),
            command: "/bin/sh".into(),
            args: vec![direct.clone()],
            ..NewServer::default()
        };
        let stored = crate::servers::added::separating::separate_keys(&server).unwrap().stored;
        assert!(!programs_of(&stored).contains(&PathBuf::from(direct)));
    }

    #[test]
    fn code_is_found_in_every_form_of_argument() {
        let tree = TestTree::new();
        let loose = ["loose", "loose/run.py"];
        for args in [
            vec!["-c", "exec python3 '@loose/run.py'"],
            vec!["--import", "file://@loose/run.py"],
            vec!["--import=file://@loose/run.py"],
            vec!["-r@loose/run.py"],
        ] {
            assert_eq!(tree.found_in_args(&args), loose, "{args:?}");
        }
        assert_eq!(tree.found_in_args(&["-I@library"]), ["library"]);
        assert_eq!(tree.found_in_args(&["-I", "@library"]), ["library"]);
        let jars = ["lib1", "lib1/a.jar", "lib2", "lib2/b.jar"];
        assert_eq!(tree.found_in_args(&["-cp", "@lib1/a.jar:@lib2/b.jar"]), jars);
        for (name, value) in [
            ("NODE_OPTIONS", "--no-warnings --require @loose/run.py"),
            ("PYTHONSTARTUP", "@loose/run.py"),
            ("LD_PRELOAD", "/usr/lib/one.so:@loose/run.py"),
            ("JAVA_TOOL_OPTIONS", "-javaagent:@loose/run.py=verbose"),
        ] {
            assert_eq!(tree.found("/bin/sh", &[], &[(name, value)]), loose, "{name}");
        }
        let script = tree.found_in_args(&["-c", "cd @loose && exec python3 ./run.py"]);
        assert_eq!(script, ["loose"]);
        let module = tree.found_in_args(&["-c", "cd '@library'; python3 -m part"]);
        assert_eq!(module, ["library"]);
        assert!(tree.found_in_args(&["-c", "cd @docs && cat a.txt"]).is_empty());
        let below_home = env::home_dir().unwrap().join("made/run.py");
        for path in ["~/made", "$HOME/made", "${HOME}/made", "\"$HOME\"/made"] {
            let found = places_in(&format!("exec python3 {path}/run.py"));
            assert!(found.contains(&below_home), "{path}: {found:?}");
        }
        assert!(places_in("https://example.org/x.js").is_empty());
    }
}
