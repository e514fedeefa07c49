//! Defines the manifest of tools that the host itself runs: an HTTP request or a program. The tools
//! are run elsewhere.
//!
//! In templates, `{name}` stands for an argument, `{{` and `}}` for braces. Only validated
//! arguments are filled in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Kind `http_api`: a request, made of literals and arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct HttpCall {
    /// The method of the request.
    #[serde(default)]
    pub method: HttpMethod,
    /// `https://host/path/{argument}`. Arguments may occur only in the path; the address may begin
    /// with `{settings.NAME}`.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Query parameters. A parameter whose value is a single absent argument is omitted; a list
    /// repeats the parameter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Headers by name; values are templates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// JSON with templates. A text that is a single argument becomes that argument's value, with
    /// its type. Without a body, POST, PUT and PATCH send all arguments that are not used
    /// elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub body: Option<Value>,
    /// Hosts that a redirect may lead to, besides the host of `url`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Whether the address may be on this computer or in the local network, if the user's settings
    /// also allow it.
    #[serde(default)]
    pub private_network: bool,
    /// How the body of the response is read.
    #[serde(default)]
    pub response: Answer,
    /// The most bytes of the response. 0 = 1 MiB; at most 16 MiB.
    #[serde(default)]
    #[schemars(range(max = 16_777_216))]
    pub max_response_bytes: u64,
}

/// The methods of a request.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// Reads and sends no body.
    #[default]
    Get,
    /// Sends a body.
    Post,
    /// Sends a body that replaces the target.
    Put,
    /// Sends a body that changes the target.
    Patch,
    /// Deletes the target, and sends a body only if the manifest has one.
    Delete,
}

impl HttpMethod {
    /// Returns the method's name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// The format of a response: JSON, which is used unchanged, or text, which becomes `{"text": ...}`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// JSON, which is used unchanged.
    #[default]
    Json,
    /// Text, which becomes the member `text` of an object.
    Text,
}

/// Kind `other`: a run of a program, without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ProgramCall {
    /// A path relative to the pack (`./program`), or a program name found in the app's own folder.
    #[schemars(length(min = 1))]
    pub command: String,
    /// A template for each argument of the program. A template with an absent argument is omitted;
    /// a template that is only a list argument gives several arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The input that the program reads.
    #[serde(default)]
    pub stdin: Stdin,
    /// How the program's output is read.
    #[serde(default)]
    pub output: Answer,
    /// Names of variables that the program gets; all others are removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Whether the program may open network connections.
    #[serde(default)]
    pub network: bool,
    /// Whether the program gets a permanent folder of the pack, passed as `COUNTERSIGN_PACK_DATA`.
    #[serde(default)]
    pub data_dir: bool,
    /// The limit of the address space in MiB. 0 = 1 024.
    #[serde(default)]
    #[schemars(range(max = 65_536))]
    pub memory_mb: u64,
    /// The most bytes of output. 0 = 1 MiB; at most 16 MiB.
    #[serde(default)]
    #[schemars(range(max = 16_777_216))]
    pub max_output_bytes: u64,
}

/// The input of a program: empty, or the arguments as a JSON object.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// No input.
    #[default]
    None,
    /// The arguments as a JSON object.
    Json,
}
