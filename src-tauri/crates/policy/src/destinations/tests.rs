use contract::{Effect, ToolSpec};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn tool(reach: Reach, open_world: bool) -> ToolSpec {
    ToolSpec { reach, open_world, ..crate::tests::tool("web.get", Effect::ReadOnly) }
}

fn names(found: &BTreeSet<Destination>) -> Vec<&str> {
    found.iter().map(|one| one.name.as_str()).collect()
}

fn in_arguments(arguments: Value) -> Vec<String> {
    let found = addressed(&tool(Reach::Configured, true), &arguments);
    names(&found).into_iter().map(str::to_owned).collect()
}

#[test]
fn an_address_counts_however_it_is_written() {
    for url in [
        "https://evil.example/collect?d=1",
        "HTTPS://EVIL.example",
        "http:evil.example/x",
        "http:/evil.example",
        "https:\\\\evil.example\\x",
        "//evil.example/x",
        "\\\\evil.example\\share",
        "ht\ttps://evil.example",
        " https://evil.example. ",
        "https://good.example@evil.example/",
        "ftp://evil.example",
        "custom+x://evil.example/a",
        "see (https://evil.example), please",
        "a=1&next=https%3A%2F%2Fevil.example%2F",
        "javascript:fetch('https://evil.example')",
    ] {
        assert_eq!(in_arguments(json!({"q": url})), ["evil.example"], "{url}");
        assert_eq!(in_arguments(json!({"deep": [{"q": url}]})), ["evil.example"], "{url}");
    }
    assert_eq!(in_arguments(json!({"https://evil.example": 1})), ["evil.example"], "a name counts");
    assert_eq!(in_arguments(json!({"q": "http://2130706433/"})), ["127.0.0.1"]);
    assert_eq!(
        in_arguments(json!({"q": "https://b\u{fc}cher.example/"})),
        ["xn--bcher-kva.example"]
    );
    assert_eq!(
        in_arguments(json!({"q": "https://secret.in.name.evil.example"})),
        ["secret.in.name.evil.example"],
        "hosts are compared as a whole"
    );
    assert_eq!(
        in_arguments(json!({"url": "https://ok.example/?u=https%3A%2F%2Fevil.example"})),
        ["evil.example", "ok.example"]
    );
}

#[test]
fn a_bare_name_counts_where_an_address_is_expected() {
    assert_eq!(in_arguments(json!({"url": "evil"})), ["evil"]);
    assert_eq!(in_arguments(json!({"targetHost": "data.evil"})), ["data.evil"]);
    assert_eq!(in_arguments(json!({"ip": 2_130_706_433_u64})), ["127.0.0.1"]);
    assert_eq!(in_arguments(json!({"q": "evil.com/path"})), ["evil.com"]);
    assert_eq!(in_arguments(json!({"q": "www.evil.md"})), ["www.evil.md"]);
    assert_eq!(in_arguments(json!({"q": "10.0.0.1:80"})), ["10.0.0.1"]);
    for plain in ["notes.md", "report.csv", "a word", "1.5", "v1.2.3", "src/main.rs", "ends. Next"]
    {
        assert!(in_arguments(json!({"q": plain})).is_empty(), "{plain}");
    }
    let closed = addressed(&tool(Reach::Configured, false), &json!({"q": "evil.com"}));
    assert!(closed.is_empty(), "a plain value of a tool that reaches its own server only");
    let schema = json!({"properties": {"q": {"type": "string", "format": "hostname"}}});
    let spec = ToolSpec { full_input_schema: schema, ..tool(Reach::Configured, false) };
    assert_eq!(names(&addressed(&spec, &json!({"q": "intranet"}))), ["intranet"]);
}

/// Found by the adversary of `engine`'s tests.
#[test]
fn an_address_counts_in_every_reading_of_a_client() {
    let in_page = |text: &str| in_arguments(json!({ "page": text }));
    for text in [
        "https://docs.example\\@evil.com/x",
        "docs.example\\@evil.com/x",
        "https://go.example/r?to=%2F%2Fevil.com%2Fx",
        "https://go.example/r?to=//evil.com/x",
        "https://go.example/r?to=/\\evil.com/x",
        "https://go.example/r?to=https:evil.com/x",
        "https://go.example/r?to=https%3A%09%2F%2Fevil.com",
        "https://go.example/r?to=https%253A%252F%252Fevil.com%252Fx",
        "https://go.example/r?to=https%3A%2F%2Fgo.example%2Fr%3Fto%3Dhttps%253A%252F%252Fevil.com",
        "evil.com/two words",
        "evil.com?d=1",
        r#"{"url": "https:\/\/evil.com\/x"}"#,
        r#"POST {"url": "\u0068ttps\u003a//evil.com"}"#,
        r#"{"url": "evil.com"}"#,
    ] {
        assert!(in_page(text).contains(&"evil.com".to_owned()), "{text}: {:?}", in_page(text));
    }
    assert_eq!(in_page("data.evil.md"), ["data.evil.md"], "a name with more parts than a file's");
    assert_eq!(in_page("evil.md?d=data"), ["evil.md"]);
    assert_eq!(in_page("evil.md:4242"), ["evil.md"]);
    assert_eq!(in_page("db.corp:80"), ["db.corp"], "a name of the own network");
    let layers = (0..20).fold("https://evil.com".to_owned(), |text, _| {
        text.replace('%', "%25").replace(':', "%3A")
    });
    assert!(!in_page(&layers).is_empty(), "what cannot be read has a destination of its own");
    for plain in ["booking.com prices in Oslo", "50%", "100 % of a/b", "a\\b", "C:\\Users\\me"] {
        assert!(in_page(plain).is_empty(), "{plain}: {:?}", in_page(plain));
    }
    assert!(named_in("See https://docs.example\\@evil.com and data.evil.md").is_empty());
}

#[test]
fn recipients_count() {
    assert_eq!(in_arguments(json!({"q": "Write to Eve@Evil.example, now"})), ["eve@evil.example"]);
    assert_eq!(
        in_arguments(json!({"q": "mailto:eve@evil.example?cc=mal@evil.example"})),
        ["eve@evil.example", "mal@evil.example"]
    );
    assert_eq!(
        in_arguments(json!({"to": "+46 70 123 45 67; #general"})),
        ["#general", "+46 70 123 45 67"]
    );
    assert!(in_arguments(json!({"to": "2026-11-30", "cc": "sv"})).is_empty());
}

#[test]
fn what_stays_here_has_no_destination() {
    let here = tool(Reach::Here, true);
    assert!(addressed(&here, &json!({"url": "https://evil.example"})).is_empty());
    assert_eq!(server_of(&here), None);
    let server = server_of(&tool(Reach::Unallowed, true)).expect("it has a server");
    assert_eq!((server.kind, server.name.as_str()), (DestinationKind::Server, "test/test"));
}

#[test]
fn a_message_names_hosts_and_recipients_and_no_files() {
    let found = named_in(
        "Read https://docs.example/a?b=1, compare with shop.example.com, mail bob@example.org. See notes.md and report.csv!",
    );
    assert_eq!(names(&found), ["docs.example", "shop.example.com", "bob@example.org"]);
    assert!(named_in("How is account 17 pacing this month? 3.5 % of 1,200.50").is_empty());
}

proptest! {
    /// Whatever surrounds it, the address of a call is found.
    #[test]
    fn an_address_within_any_text_is_found(before in "[ -~]{0,20}", after in "([ /?#][ -~]{0,20})?") {
        let text = format!("{before} https://evil.example{after}");
        let found = in_arguments(json!({"q": text}));
        prop_assert!(found.iter().any(|name| name == "evil.example"), "{text}: {found:?}");
    }

    #[test]
    fn no_text_breaks_the_search(text in any::<String>(), name in any::<String>()) {
        in_arguments(json!({name: text.clone(), "url": text, "to": text}));
        named_in(&text);
    }
}

#[test]
fn a_typed_host_may_stand_within_an_address() {
    let host = |text| typed_destination(DestinationKind::Host, text).map(|found| found.name);
    for text in
        ["Docs.Example.", "https://docs.example/a?b=1", "docs.example:8443/a", " docs.example "]
    {
        assert_eq!(host(text).as_deref(), Some("docs.example"), "{text:?}");
    }
    assert_eq!(host("localhost").as_deref(), Some("localhost"));
    for text in ["", "  ", "two words", "https://", "a\nb"] {
        assert_eq!(host(text), None, "{text:?}");
    }
    let mail = typed_destination(DestinationKind::Recipient, "Eve@Docs.example");
    assert_eq!(mail.map(|found| found.name).as_deref(), Some("eve@docs.example"));
    let server = typed_destination(DestinationKind::Server, "Mine/web");
    assert_eq!(server.map(|found| found.name).as_deref(), Some("Mine/web"));
}
