//! The wire that most servers support: chat completions. Owns its request, its stream and the
//! peculiarities of single hosts.

mod assemble;
mod chunk;
mod request;

use engine::ports::ModelRequest;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::wire::{Assemble, Wire, join_url, listed_ids};
use request::Dialect;

pub(crate) struct Chat {
    model: String,
    headers: HeaderMap,
    dialect: Dialect,
}

impl Chat {
    pub(crate) fn new(model: &str, host: &str, headers: HeaderMap) -> Self {
        Self { model: model.to_owned(), headers, dialect: Dialect::of_host(host) }
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
        plain: bool,
    ) -> Result<Vec<u8>, serde_json::Error> {
        request::build_body(&self.model, request, self.dialect, plain)
    }
    fn optional_words(&self) -> &'static [&'static str] {
        &["stream_options", "response_format", "json_schema"]
    }
    fn assembler(&self) -> Box<dyn Assemble> {
        Box::new(assemble::Assembler::new())
    }
    fn parse_model_list(&self, list: &Value) -> Option<Vec<String>> {
        listed_ids(list)
    }
}
