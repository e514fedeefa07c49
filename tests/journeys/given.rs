//! The beginnings of journeys: a table of the user that is imported, and a model whose answers are
//! scripted.

use std::fs;

use kit::{
    model_server::{ModelServer, Reply},
    webdriver::wait,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::world::Journey;

/// Imports a table as a source with this name.
#[track_caller]
pub fn source(journey: &Journey, name: &str, text: &str) {
    let path = journey.desktop.folder().join("home").join(format!("{name}.csv"));
    fs::write(&path, text).expect("written");
    let params = json!({"place": path, "decisions": {
        "sheets": [], "columns": {}, "skip_rejected": false, "answers": {}
    }, "unattended": false});
    let job = journey.call("source_add", params).expect("a job");
    wait("the import", || {
        let view = journey.call("source_job", job.clone()).ok()?;
        view["results"].is_array().then_some(())
    });
}

/// A scripted model with the runtime of its server.
pub struct Model {
    server: ModelServer,
    _runtime: Runtime,
}

impl Model {
    /// Starts a model that has no reply yet.
    pub fn start() -> Self {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = runtime.block_on(ModelServer::start([]));
        Self { server, _runtime: runtime }
    }

    /// Returns the lines of the settings file by which this model answers.
    pub fn settings(&self) -> String {
        format!(
            "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
            self.server.base_url()
        )
    }

    /// Asks a question that the model answers by one call of a tool. Returns the answer's text.
    #[track_caller]
    pub fn ask(&self, journey: &Journey, question: &str, tool: &str, arguments: Value) -> String {
        self.server.push(Reply::call(tool, arguments));
        self.server.push(Reply::text(["Here it is."]));
        journey.ask(question)
    }
}
