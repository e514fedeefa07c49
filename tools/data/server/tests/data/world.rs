//! Support for the tests: the folder of the libraries, parts made by DuckDB, and an MCP client.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use contract::sources::{AskedPlace, AskedSource, ColumnKind, PartRef, StoredColumn};
use csign_data::{
    duck::{Duck, Settings},
    serve::{Asker, ServeSettings},
};
use serde_json::{Value, json};

/// Returns the folder of the libraries, which `make drivers` fills.
pub(crate) fn drivers() -> PathBuf {
    let named = std::env::var_os("CSIGN_DATA_DRIVERS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let own = target.map(|target| target.join("data-drivers"));
        own.filter(|own| own.exists()).unwrap_or_else(|| root.join("target/data-drivers"))
    });
    let folder = folder.canonicalize().unwrap_or(folder);
    assert!(folder.join("libduckdb.so").exists(), "run `make drivers`: {}", folder.display());
    folder
}

/// Folders with parts and for spilling.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
}

/// A column of a part.
pub(crate) fn column(name: &str, kind: ColumnKind, scale: u8) -> StoredColumn {
    StoredColumn { name: name.to_owned(), kind, scale, constant: None }
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("parts")).unwrap();
        std::fs::create_dir(folder.path().join("scratch")).unwrap();
        Self { folder }
    }

    pub(crate) fn parts(&self) -> PathBuf {
        self.folder.path().join("parts")
    }

    /// Writes the rows of a query as a part.
    pub(crate) fn part(&self, name: &str, query: &str, columns: &[StoredColumn]) -> PartRef {
        let duck = Duck::open(&Settings {
            drivers: drivers(),
            folders: vec![self.parts()],
            scratch: self.folder.path().join("scratch"),
            memory_bytes: 256 << 20,
            spill_bytes: 1 << 30,
            threads: 2,
        })
        .unwrap();
        let file = format!("{name}.parquet");
        let path = self.parts().join(&file);
        let mut link = duck.connect().unwrap();
        link.run(&format!("COPY ({query}) TO '{}' (FORMAT parquet)", path.display())).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let hash = {
            use sha2::Digest as _;
            let digest = sha2::Sha256::digest(&bytes);
            digest.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        PartRef { file, rows: 0, hash, columns: columns.to_vec(), without: Vec::new() }
    }

    /// Names parts as a source.
    pub(crate) fn source(&self, name: &str, parts: &[PartRef]) -> AskedSource {
        let columns = csign_data::parts::union_of(parts);
        let folder = self.parts().display().to_string();
        AskedSource {
            name: name.into(),
            columns,
            place: AskedPlace::Parts { folder, parts: parts.to_vec() },
            definitions: None,
            approved: Vec::new(),
            covered: None,
            exports: Vec::new(),
            version: Some("v1".to_owned()),
        }
    }

    pub(crate) fn settings(&self) -> ServeSettings {
        ServeSettings {
            read: vec![self.parts()],
            scratch: self.folder.path().join("scratch"),
            drivers: drivers(),
            memory_bytes: 256 << 20,
            spill_bytes: 256 << 20,
            threads: 2,
        }
    }

    pub(crate) fn asker(&self) -> Asker {
        Asker::open(&self.settings()).unwrap()
    }
}

/// A client of a server on standard input and output.
pub(crate) struct Client {
    pub(crate) child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    /// Starts the program and greets it.
    pub(crate) fn start(args: &[&str], folder: &Path) -> Self {
        let mut child = Command::new(crate::PROGRAM)
            .args(args)
            .current_dir(folder)
            .env("CSIGN_DATA_DRIVERS", drivers())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, id: 0 };
        let greeting = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let answer = client.ask("initialize", greeting);
        assert_eq!(answer["result"]["serverInfo"]["name"], "csign-data", "{answer}");
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub(crate) fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    /// Sends a request without waiting for its answer. Returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let id = self.id;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.try_answer(id).expect("the server goes on")
    }

    /// Waits for the answer to a request, or the end of the server.
    pub(crate) fn try_answer(&mut self, id: u64) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) {
                return Some(message);
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Calls a tool and returns its structured result, and whether it is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (Value, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert!(result.is_object(), "{answer}");
        (result["structuredContent"].clone(), result["isError"] == json!(true))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
