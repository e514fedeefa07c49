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
fn an_address_is_a_destination_in_any_notation() {
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
        // In a form that clients read differently, the whole text is a destination as well.
        let is_other = |name: &String| *name != url.to_lowercase();
        for arguments in [json!({"q": url}), json!({"deep": [{"q": url}]})] {
            let mut found = in_arguments(arguments);
            found.retain(is_other);
            assert_eq!(found, ["evil.example"], "{url}");
        }
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
fn a_bare_host_name_is_a_destination_if_the_parameter_expects_an_address() {
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

/// A regression found by `engine`'s adversarial tests.
#[test]
fn every_host_that_some_client_would_read_from_an_address_is_a_destination() {
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

/// A text that clients read differently is itself a destination, in addition to each host that some
/// client reads.
#[test]
fn an_ambiguous_address_is_itself_a_destination() {
    for url in [
        "2001:db8::7",
        "evil.com:data/x.git",
        "evil.com:smtp",
        "evil.com:99999",
        "evil.com:80:user:pw",
        "secret^.evil.com",
        "evil.com, good.com",
        "good.com evil.com",
        "host=evil.com user=x",
        "user:pw@tcp(evil.com:3306)/db",
        "ldap:evil.com/x",
        "view-source:https://evil.com",
        "mailto:eve@evil.com",
        "https://good.com|.evil.com",
        "https://good.com\u{a0}.evil.com",
        "https://good.com'.evil.com/x",
        "https://good.com(.evil.com/x",
        "https://good.com:80,evil.com:80/x",
        "https://good.com#@evil.com/x",
        "https://evil.com@good.com@good.com/",
        "postgresql://good.com/db?host=evil.com",
        "jdbc:sqlserver://good.com;serverName=evil.com",
        "see https:/evil.com/x",
        "![](//evil.com/x)",
        "url(//evil.com)",
        "//good.com/a.png 1x, //evil.com/b.png 2x",
        r"read \\evil.com\share",
        "file:////evil.com/share",
        r"\\?\UNC\evil.com\share",
        "eve@evil.com:data",
    ] {
        let found = in_arguments(json!({"url": url}));
        assert!(found.iter().any(|name| name != "good.com"), "{url}: {found:?}");
    }
    for (text, host) in [
        ("https://good.com|.evil.com", "good.com|.evil.com"),
        ("https://good.com'.evil.com/x", "good.com'.evil.com"),
        ("see https:/evil.com/x", "evil.com"),
        ("![](//evil.com/x)", "evil.com"),
        ("url(//evil.com)", "evil.com"),
        ("//good.com/a.png 1x, //evil.com/b.png 2x", "evil.com"),
        (r"read \\evil.com\share", "evil.com"),
        ("file:////evil.com/share", "evil.com"),
        (r"\\?\UNC\evil.com\share", "evil.com"),
        ("mongodb://good.com:80,evil.com:80/x", "evil.com"),
        ("GET evil.com/x", "evil.com"),
        ("GET /x\nHost: evil.com", "evil.com"),
        ("host=evil.com user=x", "evil.com"),
        ("3405803783/x", "203.0.113.7"),
        ("203.0.28935/x", "203.0.113.7"),
        ("2001:db8::7", "[2001:db8::7]"),
        ("evil.com/x?u=https://good.com", "evil.com"),
    ] {
        let found = in_arguments(json!({"q": text}));
        assert!(found.contains(&host.to_owned()), "{text}: {found:?}");
    }
}

#[test]
fn an_ambiguous_address_in_any_parameter_of_an_open_tool_is_a_destination() {
    for text in [
        r"https:\\evil.example\x",
        "http:/evil.example/x",
        "https:evil.example",
        "https://good.example@evil.example/",
        "postgresql://good.example/db?host=evil.md",
        "mysql://good.example/db?host=10.0.0.1",
        "redis://good.example/0#evil.md",
    ] {
        let own = text.to_lowercase();
        assert!(in_arguments(json!({"page": text})).contains(&own), "{text}");
        assert!(in_arguments(json!({"url": text})).contains(&own), "{text}");
    }
    for text in [
        "https://good.example/a?host=evil.md",
        "postgresql://good.example/db",
        "https:",
        "note: //see",
        "https://good.example is a page",
    ] {
        assert!(!in_arguments(json!({"page": text})).contains(&text.to_lowercase()), "{text}");
    }
}

#[test]
fn a_number_in_a_set_of_recipients_is_a_recipient() {
    assert_eq!(in_arguments(json!({"attendees": {"6266": true}})), ["6266"]);
    assert_eq!(in_arguments(json!({"to": {"17": null, "18": 1}})), ["17", "18"]);
    assert!(in_arguments(json!({"attendees": "2026-11-30"})).is_empty());
}

#[test]
fn a_plain_address_in_prose_or_code_is_one_destination() {
    for text in [
        "see (https://good.com), please",
        "[text](https://good.com)[more](https://good.com/x)",
        r#""https://good.com","x""#,
        r#"{"a": "https://good.com", "b": [1]}"#,
        "fetch('https://good.com/a//b')",
        "https://good.com/@eve/post, https://good.com/npm/react@18.2.0/x",
        "https://good.com\nhttps://good.com/2",
        "// TODO look at https://good.com.",
    ] {
        assert_eq!(in_arguments(json!({"q": text})), ["good.com"], "{text}");
    }
    for text in [
        "a // b",
        "src//main.rs",
        "//TODO",
        r"C:\\Users\\me",
        r"(\\d+\\.\\d+)",
        "and/or, 24/7, 2026/11/30, 12:30, 1.5/2, node.js/express, see notes.md:12",
        "file:///home/me/plan.txt",
        "sqlite:///data.db",
        "std::fmt",
    ] {
        let found = in_arguments(json!({"q": format!("x {text}")}));
        assert!(found.is_empty(), "{text}: {found:?}");
    }
    for (url, hosts) in [
        ("good.com/x", &["good.com"][..]),
        ("https://good.com:8080/a?b=c#d", &["good.com"]),
        ("https://good.com/a%20b", &["good.com"]),
        ("/docs/x", &[]),
        ("file:///home/me/plan.txt", &[]),
        ("Main Street, Oslo", &["main street, oslo"]),
    ] {
        assert_eq!(in_arguments(json!({"url": url})), *hosts, "{url}");
    }
}

#[test]
fn a_parameter_name_can_mean_several_kinds_of_destination() {
    for (arguments, name) in [
        (json!({"navigate_to": "data.evil"}), "data.evil"),
        (json!({"url": {"to": "data.evil"}}), "data.evil"),
        (json!({"URLString": "intranet"}), "intranet"),
        (json!({"DBHost": "intranet"}), "intranet"),
        (json!({"IPAddress": 3_405_803_783_u64}), "203.0.113.7"),
        (json!({"baseurl": "intranet"}), "intranet"),
        (json!({"serverName": "intranet"}), "intranet"),
    ] {
        let found = in_arguments(arguments.clone());
        assert!(found.contains(&name.to_owned()), "{arguments}: {found:?}");
    }
    for schema in [
        json!({"properties": {"q": {"items": {"format": "hostname"}}}}),
        json!({"properties": {"q": {"anyOf": [{"type": "null"}, {"format": "hostname"}]}}}),
        json!({"properties": {"q": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"format": "ipv4"}}}),
        json!({"allOf": [{"properties": {"q": {"format": "uri"}}}]}),
        json!({"properties": {"q": {"$ref": "#"}}, "format": "uri"}),
    ] {
        let spec = ToolSpec { full_input_schema: schema.clone(), ..tool(Reach::Configured, false) };
        let found = addressed(&spec, &json!({"q": ["intranet"]}));
        assert_eq!(names(&found), ["intranet"], "{schema}");
    }
}

#[test]
fn channels_users_and_phone_numbers_in_a_message_are_recognised() {
    let found = named_in("Ask #general and @eve, or call +46 70 123 45 67. See #12, 2026-11-30.");
    assert_eq!(names(&found), ["#general", "+46701234567", "@eve"]);
}

/// A regression found by the second round of adversarial tests.
#[test]
fn an_address_or_recipient_is_found_regardless_of_surrounding_text() {
    for (to, name) in [
        ("//?<eve@evil.com>", "eve@evil.com"),
        ("https:?<eve@evil.com>", "eve@evil.com"),
        ("//#<eve@evil.com>, bob@good.com", "eve@evil.com"),
        ("//<eve@evil.com>", "eve@evil.com"),
        ("eve@18.2.0", "eve@18.2.0"),
        ("eve@203.0.28935", "eve@203.0.28935"),
        ("nan", "nan"),
        ("+inf", "+inf"),
        ("0046-70-1234567", "0046701234567"),
        ("0120-12-3456", "0120123456"),
        ("o'brien@evil.com", "o'brien@evil.com"),
    ] {
        let found = in_arguments(json!({"to": to}));
        assert!(found.contains(&name.to_owned()), "{to}: {found:?}");
    }
    for (text, host) in [
        ("https://secret.evil.com@good.com", "secret.evil.com"),
        ("https://secret.evil.com,@good.com", "secret.evil.com"),
        ("[https://secret.evil.com]@good.com", "secret.evil.com"),
        ("url=https://secret.evil.com&x=@good.com", "secret.evil.com"),
        ("nslookup secret.evil.com", "secret.evil.com"),
        ("socket.gethostbyname('secret.evil.com')", "secret.evil.com"),
        ("scp x evil.com:data", "evil.com"),
        ("2001:db8:1:2:3:4:5:6", "[2001:db8:1:2:3:4:5:6]"),
        ("sms +46701234567", "+46701234567"),
        ("https://good.com?to=eve@evil.com", "eve@evil.com"),
    ] {
        let found = in_arguments(json!({"q": text}));
        assert!(found.contains(&host.to_owned()), "{text}: {found:?}");
    }
    for (arguments, name) in [
        (json!({"attendees": {"eve": true}}), "eve"),
        (json!({"to": {"eve": 1}}), "eve"),
        (json!({"to": "{\"eve\": true}"}), "eve"),
        (json!({"servers": {"data.evil": true}}), "data.evil"),
        (json!({"url": "https://good.com/,evil.com"}), "evil.com"),
        (json!({"msisdn": "0701234567"}), "0701234567"),
    ] {
        let found = in_arguments(arguments.clone());
        assert!(found.contains(&name.to_owned()), "{arguments}: {found:?}");
    }
    let texts = ["Update README.md/CHANGELOG.md", "open requirements.in, logo.ai, Makefile.am"];
    for text in texts.into_iter().chain(["order.id", "mail {o}bob@good.com}"]) {
        let found = named_in(text);
        assert!(!names(&found).iter().any(|name| !name.contains('@')), "{text}: {found:?}");
    }
}

#[test]
fn ordinary_values_give_no_unnecessary_destinations() {
    for (arguments, expected) in [
        (json!({"url": "https://good.com/v1?fields=id,name"}), &["good.com"][..]),
        (json!({"url": "https://good.com/?bbox=10.5,59.2"}), &["good.com"]),
        (json!({"uri": "file:///home/me/My Docs/a.txt"}), &[]),
        (json!({"hop_count": 3, "max_links": 10, "server_port": 443, "site_id": 12}), &[]),
        (json!({"to": 1_735_776_000, "from": 0}), &[]),
        (json!({"to": "12:30"}), &[]),
        (json!({"to": "2026-11-30 10:00:00+01:00"}), &[]),
        (json!({"to": "\"Smith, Bob\" <bob@good.com>"}), &["bob@good.com"]),
        (json!({"email_body": "a, b\nc", "mail_folder": "INBOX"}), &[]),
        (json!({"q": "site:python.org asyncio"}), &["python.org"]),
        (json!({"server": {"host": "good.com", "port": 80}}), &["good.com"]),
    ] {
        assert_eq!(in_arguments(arguments.clone()), *expected, "{arguments}");
    }
    // A schema with `from` makes `to` the end of a range or a route.
    let schema = json!({"properties": {"from": {}, "to": {}}});
    let spec = ToolSpec { full_input_schema: schema, ..tool(Reach::Configured, true) };
    assert!(addressed(&spec, &json!({"from": "Oslo", "to": "Bergen"})).is_empty());
    let found = addressed(&spec, &json!({"from": "me", "to": "#general, eve@evil.com"}));
    assert_eq!(names(&found), ["#general", "eve@evil.com"]);
}

#[test]
fn recipients_in_text_and_parameters_are_destinations() {
    assert_eq!(in_arguments(json!({"q": "Write to Eve@Evil.example, now"})), ["eve@evil.example"]);
    assert_eq!(
        in_arguments(json!({"q": "mailto:eve@evil.example?cc=mal@evil.example"})),
        ["eve@evil.example", "mal@evil.example"]
    );
    assert_eq!(
        in_arguments(json!({"to": "+46 70 123 45 67; #general"})),
        ["#general", "+46701234567"]
    );
    for plain in ["2026-11-30", "2026-11-30T10:00:00Z", "100", "2.5"] {
        assert!(in_arguments(json!({"to": plain})).is_empty(), "{plain}");
    }
    for (to, name) in [
        (json!("Bob <eve@evil.example>"), "eve@evil.example"),
        (json!("eve@evil"), "eve@evil"),
        (json!("general"), "general"),
        (json!("\"eve x\"@evil.example"), "\"eve x\"@evil.example"),
        (json!("eve(at home)@evil.example"), "eve@evil.example"),
        (json!("eve@(x)evil.example"), "eve@evil.example"),
        (json!("bob@ok.example, eve@evil.example."), "eve@evil.example"),
        (json!("eve\u{ff20}evil\u{3002}example"), "eve@evil.example"),
        (json!("eve@[203.0.113.7]"), "eve@[203.0.113.7]"),
        (json!("tel:+46701234567"), "tel:+46701234567"),
        (json!(46_701_234_567_u64), "46701234567"),
        (json!({"name": "eve"}), "eve"),
        (json!(["bob@ok.example", ["eve"]]), "eve"),
    ] {
        let found = in_arguments(json!({"to": to.clone()}));
        assert!(found.contains(&name.to_owned()), "{to}: {found:?}");
    }
}

#[test]
fn a_local_call_has_no_destination() {
    let here = tool(Reach::Here, true);
    assert!(addressed(&here, &json!({"url": "https://evil.example"})).is_empty());
    assert_eq!(server_of(&here), None);
    let server = server_of(&tool(Reach::Unallowed, true)).expect("it has a server");
    assert_eq!((server.kind, server.name.as_str()), (DestinationKind::Server, "test/test"));
}

#[test]
fn hosts_and_recipients_in_a_message_are_recognised_but_file_names_are_not() {
    let found = named_in(
        "Read https://docs.example/a?b=1, compare with shop.example.com, mail bob@example.org. See notes.md and report.csv!",
    );
    assert_eq!(names(&found), ["docs.example", "shop.example.com", "bob@example.org"]);
    assert!(named_in("How is account 17 pacing this month? 3.5 % of 1,200.50").is_empty());
}

proptest! {
    /// The address of a call is found, whatever text is before and after the address.
    #[test]
    fn an_address_inside_any_text_is_found(before in "[ -~]{0,20}", after in "([ /?#][ -~]{0,20})?") {
        let text = format!("{before} https://evil.example{after}");
        let found = in_arguments(json!({"q": text}));
        prop_assert!(found.iter().any(|name| name == "evil.example"), "{text}: {found:?}");
    }

    #[test]
    fn searching_destinations_in_any_text_does_not_panic(text in any::<String>(), name in any::<String>()) {
        in_arguments(json!({name: text.clone(), "url": text, "to": text}));
        named_in(&text);
    }
}

#[test]
fn a_typed_host_may_be_given_as_part_of_an_address() {
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

/// A text with a thousand unfinished authorities is read in a number of steps limited by its
/// length.
#[test]
fn an_unterminated_authority_is_a_destination_named_by_its_hash() {
    let text = "http:".repeat(2_000);
    let found = in_arguments(json!({"q": text}));
    assert!(found.iter().any(|name| name.contains("sha256")), "{} names", found.len());
    let hidden = format!("https://{}@evil.com/", "x".repeat(5_000));
    assert!(!in_arguments(json!({"q": hidden})).is_empty());
}

#[test]
fn a_description_names_an_added_server_by_its_short_name() {
    let of = |name: &str| Destination::new(DestinationKind::Server, name);
    let places = [of("own-notes/notes"), of("own-notes/other"), of("post/price")];
    assert_eq!(describe(&places), "notes, own-notes/other, post/price");
    let host = Destination::new(DestinationKind::Host, "own-notes/notes");
    assert_eq!(describe(&[host]), "own-notes/notes");
}
