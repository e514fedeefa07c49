//! The wire that most servers support: chat completions. The module owns its requests, its streams
//! and the peculiarities of single servers.

mod chunk;
mod dialect;
mod events;
mod kept;
mod request;
mod shape;
mod thoughts;
mod written;

use engine::ports::ModelRequest;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::wire::{Assemble, Assembler, Leaves, Wire, join_url, listed_ids};
use dialect::Dialect;

pub(crate) struct Chat {
    model: String,
    /// The identity of server and model.
    maker: String,
    headers: HeaderMap,
    dialect: Dialect,
}

impl Chat {
    pub(crate) fn new(model: &str, maker: String, host: &str, headers: HeaderMap) -> Self {
        Self { model: model.to_owned(), maker, headers, dialect: Dialect::of_host(host) }
    }
}

impl Wire for Chat {
    fn url(&self, base: &Url, _whole: bool) -> Url {
        join_url(base, "chat/completions")
    }
    fn list_url(&self, base: &Url) -> Url {
        join_url(base, "models")
    }
    fn headers(&self) -> &HeaderMap {
        &self.headers
    }
    fn write_body(
        &self,
        request: &ModelRequest,
        leaves: Leaves,
    ) -> Result<Vec<u8>, serde_json::Error> {
        request::build_body((&self.model, &self.maker), request, self.dialect, leaves)
    }
    fn optional_words(&self) -> &'static [&'static str] {
        &["stream_options", "response_format", "json_schema", "tool_choice"]
    }
    fn assembler(&self, request: &ModelRequest) -> Box<dyn Assemble> {
        let is_text = request.structured.is_none();
        let tools = request.tools.iter().filter(|_| is_text).map(|tool| tool.name.to_string());
        Box::new(Assembler::new(&self.maker, events::Reader::new(tools.collect())))
    }
    fn parse_model_list(&self, list: &Value) -> Option<Vec<String>> {
        listed_ids(list)
    }
}
