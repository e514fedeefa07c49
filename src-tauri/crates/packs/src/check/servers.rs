//! Checks servers. A server is either a program of the pack or of the app, never a path elsewhere,
//! or an address. Credentials are given by name only.

use serde_json::Value;

use super::{programs, targets};
use crate::{
    fault::{Faults, join},
    subject::{Subject, list, present, text},
    urls,
};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    let mut names: Vec<&str> = Vec::new();
    for (index, server) in list(subject.manifest.get("servers")).enumerate() {
        let at = format!("/servers/{index}");
        if let Some(name) = text(server, "name") {
            if names.contains(&name) {
                faults.at(
                    format!("{at}/name"),
                    format!("the server `{name}` occurs twice"),
                    "give each server its own name",
                );
            }
            names.push(name);
        }
        match (
            text(server, "command").filter(|command| !command.is_empty()),
            present(server, "http"),
        ) {
            (Some(command), None) => {
                programs::check_program(subject, &format!("{at}/command"), command, faults)
            }
            (None, Some(http)) => {
                check_address(subject, &format!("{at}/http"), http, faults);
                for member in ["args", "env", "data_dir"] {
                    if present(server, member).is_some_and(|value| *value != Value::Bool(false)) {
                        faults.at(
                            join(&at, member),
                            format!("`{member}` is for programs"),
                            "remove it",
                        );
                    }
                }
            }
            (Some(_), Some(_)) => faults.at(
                format!("{at}/http"),
                "a server is a program or an address, not both",
                "remove `command` or `http`",
            ),
            (None, None) => faults.at(
                &at,
                "it is not said how the server is reached",
                "add `command` with a program, or `http` with an address",
            ),
        }
        if let Some(other) = present(server, "elsewhere") {
            check_remote_replacement(subject, &format!("{at}/elsewhere"), server, other, faults);
        }
        for (index, variable) in list(server.get("env")).enumerate() {
            if let Some(name) = variable.as_str() {
                programs::check_variable(&format!("{at}/env/{index}"), name, faults);
            }
        }
    }
}

/// Checks the remote server that may replace a program. The server is configured by settings of the
/// pack, and its secret is given by name only.
fn check_remote_replacement(
    subject: &Subject<'_>,
    at: &str,
    server: &Value,
    other: &Value,
    faults: &mut Faults,
) {
    if present(server, "http").is_some() || present(server, "offer_all") == Some(&Value::Bool(true))
    {
        faults.at(
            at,
            "`elsewhere` stands in for a program whose tools are all declared",
            "remove it, or `http` and `offer_all`",
        );
    }
    for member in ["url", "token_url", "client_id", "scope"] {
        let Some(name) = text(other, member) else { continue };
        let default = subject.manifest.get("settings").and_then(|settings| settings.get(name));
        if !default.is_some_and(Value::is_string) {
            faults.at(
                join(at, member),
                format!("`{name}` is no setting of the pack that is a text"),
                "add it to `settings`, empty by default",
            );
        }
    }
    for member in ["client_secret", "env_prefix"] {
        if text(other, member).is_some_and(|name| !name.is_empty() && !programs::is_variable(name))
        {
            faults.at(
                join(at, member),
                "it is not the name of a variable",
                "give the name only, never a value",
            );
        }
    }
}

fn check_address(subject: &Subject<'_>, at: &str, http: &Value, faults: &mut Faults) {
    let private = http.get("private_network") == Some(&Value::Bool(true));
    let url_at = format!("{at}/url");
    if let Some(url) = text(http, "url") {
        let settings = subject
            .manifest
            .get("settings")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        match urls::address_with(url, &settings, &serde_json::Map::new()) {
            Some(whole) if urls::is_base_url(&whole) => {
                if !urls::is_encrypted(&whole) && !private {
                    let fix = "use https, or set `private_network` for a server on this computer or in the local network";
                    faults.at(
                        &url_at,
                        "without encryption anyone on the way can read and change what is said",
                        fix,
                    );
                }
            }
            _ => faults.at(
                &url_at,
                format!("`{url}` is not a web address"),
                "write it like https://mcp.example.com/mcp, or begin it with a setting that is one",
            ),
        }
    }
    for (name, credential) in http.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let at = join(&format!("{at}/headers"), name);
        targets::check_header(&at, name, faults);
        if credential.as_str().is_some_and(|name| !programs::is_variable(name)) {
            faults.at(
                &at,
                "it is not the name of a credential",
                "give the name only, never a value",
            );
        }
    }
    sign_in(at, http, faults);
}

/// Checks the settings for signing in to a server.
fn sign_in(at: &str, http: &Value, faults: &mut Faults) {
    let auth = |member: &str| http.pointer(&format!("/auth/{member}")).and_then(Value::as_str);
    let (kind, variable) = (auth("kind").unwrap_or("none"), auth("env_var"));
    let oauth = present(http, "oauth");
    let grant = oauth.and_then(|oauth| text(oauth, "grant"));
    match kind {
        "mtls" => faults.at(
            format!("{at}/auth/kind"),
            "`mtls` is not supported for a server",
            "use `bearer_token`, `api_key` or `oauth2`",
        ),
        "oauth2" if oauth.is_none() => faults.at(
            format!("{at}/oauth"),
            "it is not said how tokens are got",
            "add `oauth` with a `grant`",
        ),
        "bearer_token" | "api_key" if variable.is_none() => {
            faults.at(
                format!("{at}/auth/env_var"),
                "it is not said where the credential comes from",
                "name the variable that holds it, never its value",
            );
        }
        _ => {}
    }
    if auth("query").is_some() {
        faults.at(
            format!("{at}/auth/query"),
            "a key in an address ends up in logs",
            "use `header`",
        );
    }
    if variable.is_some_and(|name| !programs::is_variable(name)) {
        faults.at(
            format!("{at}/auth/env_var"),
            "it is not the name of a variable",
            "give the name only, never a value",
        );
    }
    let Some(oauth) = oauth else { return };
    if kind != "oauth2" {
        faults.at(
            format!("{at}/oauth"),
            "`oauth` is for kind `oauth2`",
            "set `auth.kind` to `oauth2`, or remove `oauth`",
        );
    }
    if grant == Some("client_credentials")
        && (present(oauth, "client_id").is_none() || variable.is_none())
    {
        faults.at(
            format!("{at}/oauth"),
            "the app itself signs in with an id and a secret",
            "add `client_id`, and name the secret in `auth.env_var`",
        );
    }
    if present(oauth, "signed_with").is_some() && grant != Some("client_credentials") {
        faults.at(
            format!("{at}/oauth/signed_with"),
            "only the app itself signs in with a key",
            "remove it, or use the grant `client_credentials`",
        );
    }
    if text(oauth, "issuer").is_some_and(|issuer| !urls::is_base_url(issuer)) {
        faults.at(
            format!("{at}/oauth/issuer"),
            "it is not a web address",
            "write the `issuer` of the authorization server's metadata",
        );
    }
    if text(oauth, "client_metadata_url").is_some_and(|url| !urls::is_encrypted(url)) {
        faults.at(
            format!("{at}/oauth/client_metadata_url"),
            "it is not an https address",
            "host the document under https, or remove the member",
        );
    }
}
