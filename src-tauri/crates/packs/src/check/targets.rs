//! Checks HTTP requests and programs of tools: templates name existing parameters, no value can
//! change the address, and the host supports the requested features.

use serde_json::Value;

use super::programs;
use crate::{
    fault::Faults,
    fault::join,
    run::Template,
    subject::{Subject, list, present, text},
    urls,
};

/// Headers of the connection itself, and headers that only the host may set.
const RESERVED: [&str; 12] = [
    "host",
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "cookie",
    "authorization",
];

pub(crate) fn check_http(subject: &Subject<'_>, at: &str, tool: &Value, faults: &mut Faults) {
    let Some(call) = present(tool, "http").filter(|call| call.is_object()) else { return };
    let at = format!("{at}/http");
    if let Some(url) = text(call, "url") {
        check_address(subject, &at, tool, call, url, faults);
    }
    for member in ["query", "headers"] {
        for (name, source) in call.get(member).and_then(Value::as_object).into_iter().flatten() {
            let at = join(&format!("{at}/{member}"), name);
            template(subject, &at, tool, source.as_str(), faults);
            if member == "headers" {
                check_header(&at, name, faults);
            }
        }
    }
    if let Some(body) = present(call, "body") {
        body_templates(subject, &format!("{at}/body"), tool, body, faults);
        if matches!(text(call, "method"), None | Some("GET")) {
            faults.at(
                format!("{at}/body"),
                "a GET request has no body",
                "remove it, or set `method`",
            );
        }
    }
    for (index, host) in list(call.get("hosts")).enumerate() {
        let good = host.as_str().is_some_and(|host| {
            !host.is_empty() && urls::is_base_url(&format!("https://{host}")) && !host.contains('/')
        });
        if !good {
            faults.at(
                format!("{at}/hosts/{index}"),
                format!("{host} is not the name of a host"),
                "give the host alone, such as `files.example.com`",
            );
        }
    }
    check_credential(&at, tool, faults);
    check_idempotency(subject, &at, tool, call, faults);
}

fn check_address(
    subject: &Subject<'_>,
    at: &str,
    tool: &Value,
    call: &Value,
    url: &str,
    faults: &mut Faults,
) {
    let pointer = format!("{at}/url");
    let private = call.get("private_network") == Some(&Value::Bool(true));
    let (base, rest) = match urls::leading_setting(url) {
        Some((name, rest)) => {
            let Some(value) =
                subject.manifest.get("settings").and_then(|settings| settings.get(name))
            else {
                faults.at(
                    &pointer,
                    format!("`settings` has no `{name}`"),
                    "add the setting with a default address",
                );
                return;
            };
            let value = value.as_str().unwrap_or_default();
            if !urls::is_base_url(value) {
                faults.at(
                    join("/settings", name),
                    format!("`{value}` is not a web address"),
                    "write it like https://api.example.com/v1, without a query",
                );
                return;
            }
            (value.to_owned(), rest.to_owned())
        }
        None => {
            let end = url
                .find("://")
                .and_then(|scheme| url[scheme + 3..].find('/').map(|path| scheme + 3 + path))
                .unwrap_or(url.len());
            let (base, rest) = url.split_at(end);
            if !urls::is_base_url(base) {
                faults.at(
                    &pointer,
                    format!("`{base}` is not a web address"),
                    "write it like https://api.example.com/orders/{id}; arguments stand in the path only",
                );
                return;
            }
            (base.to_owned(), rest.to_owned())
        }
    };
    if !urls::is_encrypted(&base) && !private {
        faults.at(
            &pointer,
            "without encryption anyone on the way can read and change the request",
            "use https, or set `private_network` for a server on this computer or in the local network",
        );
    }
    if !rest.is_empty() && !rest.starts_with('/') {
        faults.at(&pointer, "after the host a path must follow", "put a `/` between them");
    }
    if rest.contains(['?', '#']) {
        faults.at(&pointer, "a query does not belong here", "move it to `query`");
    }
    let required: Vec<&str> = text(tool, "input_schema_ref")
        .and_then(|r| subject.schema(r))
        .map(|s| list(s.get("required")).filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for name in template(subject, &pointer, tool, Some(&rest), faults) {
        let first = name.split('.').next().unwrap_or(&name);
        if !required.contains(&first) {
            faults.at(
                &pointer,
                format!("the address needs `{name}`, but the input schema does not require it"),
                format!("add `{first}` to `required`"),
            );
        }
    }
}

/// Returns the parameters that a template names, and adds a fault for each unknown name.
fn template(
    subject: &Subject<'_>,
    at: &str,
    tool: &Value,
    source: Option<&str>,
    faults: &mut Faults,
) -> Vec<String> {
    let template = match source.map(Template::parse) {
        Some(Ok(template)) => template,
        Some(Err(problem)) => {
            faults.at(at, problem, "write arguments as `{name}`");
            return Vec::new();
        }
        None => return Vec::new(),
    };
    let known = subject.parameters(tool);
    for name in template.names() {
        let first = name.split('.').next().unwrap_or(name);
        if known.as_ref().is_some_and(|known| !known.contains(&name) && !known.contains(&first)) {
            faults.at(
                at,
                format!("the input schema has no parameter `{name}`"),
                "add it to the schema or correct the name",
            );
        }
    }
    template.names().map(str::to_owned).collect()
}

fn body_templates(
    subject: &Subject<'_>,
    at: &str,
    tool: &Value,
    value: &Value,
    faults: &mut Faults,
) {
    match value {
        Value::String(source) => drop(template(subject, at, tool, Some(source), faults)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            body_templates(subject, &join(at, name), tool, member, faults)
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            body_templates(subject, &format!("{at}/{index}"), tool, item, faults)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub(super) fn check_header(at: &str, name: &str, faults: &mut Faults) {
    if !is_token(name) {
        faults.at(
            at,
            format!("`{name}` is not the name of a header"),
            "use letters, digits and hyphens",
        );
    } else if RESERVED.contains(&name.to_ascii_lowercase().as_str())
        || name.to_ascii_lowercase().starts_with("proxy-")
    {
        faults.at(
            at,
            format!("`{name}` is set by the host"),
            "remove it; a credential is declared in `auth`",
        );
    }
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn check_credential(at: &str, tool: &Value, faults: &mut Faults) {
    let at = at.trim_end_matches("/http");
    let auth = |member: &str| tool.pointer(&format!("/auth/{member}")).and_then(Value::as_str);
    if let Some(kind @ ("oauth2" | "mtls")) = auth("kind") {
        faults.at(
            format!("{at}/auth/kind"),
            format!("`{kind}` is not supported for kind `http_api`"),
            "use `bearer_token` or `api_key`",
        );
    }
    if let Some(name) = auth("header").filter(|name| !is_token(name)) {
        faults.at(
            format!("{at}/auth/header"),
            format!("`{name}` is not the name of a header"),
            "use letters, digits and hyphens",
        );
    }
    if auth("query").is_some() && (auth("kind") != Some("api_key") || auth("header").is_some()) {
        faults.at(
            format!("{at}/auth/query"),
            "`query` is for kind `api_key`, and stands instead of `header`",
            "remove one of them",
        );
    }
}

fn check_idempotency(
    subject: &Subject<'_>,
    at: &str,
    tool: &Value,
    call: &Value,
    faults: &mut Faults,
) {
    let at = format!("{}/idempotency", at.trim_end_matches("/http"));
    let place = tool.pointer("/idempotency/key_ref").and_then(Value::as_str);
    match tool.pointer("/idempotency/strategy").and_then(Value::as_str) {
        Some("header") if place.is_some_and(|name| !is_token(name)) => {
            faults.at(
                format!("{at}/key_ref"),
                "it is not the name of a header",
                "use letters, digits and hyphens",
            );
        }
        Some("payload_field")
            if matches!(text(call, "method"), None | Some("GET" | "DELETE"))
                && present(call, "body").is_none() =>
        {
            faults.at(
                format!("{at}/strategy"),
                "there is no body to put the key into",
                "use `header`, or send a body",
            );
        }
        Some("external_key") => match (place, subject.parameters(tool)) {
            (None, _) => faults.at(
                format!("{at}/key_ref"),
                "it is not said which argument is the key",
                "name the parameter",
            ),
            (Some(name), Some(known)) if !known.contains(&name) => {
                faults.at(
                    format!("{at}/key_ref"),
                    format!("the input schema has no parameter `{name}`"),
                    "add it to the schema or correct the name",
                );
            }
            _ => {}
        },
        _ => {}
    }
}

pub(crate) fn check_program(subject: &Subject<'_>, at: &str, tool: &Value, faults: &mut Faults) {
    let Some(call) = present(tool, "program").filter(|call| call.is_object()) else { return };
    let at = format!("{at}/program");
    if let Some(command) = text(call, "command") {
        programs::check_program(subject, &format!("{at}/command"), command, faults);
    }
    for (index, source) in list(call.get("args")).enumerate() {
        template(subject, &format!("{at}/args/{index}"), tool, source.as_str(), faults);
    }
    for (index, name) in list(call.get("env")).enumerate() {
        if let Some(name) = name.as_str() {
            programs::check_variable(&format!("{at}/env/{index}"), name, faults);
        }
    }
}
