//! A table of a database in the window: connected by its address, with the password in the keyring,
//! read as a table, and used again after the server stopped in the middle; and addresses that lead
//! nowhere.

use kit::{
    postgres::{PASSWORD, Postgres},
    webdriver::wait,
};
use serde_json::{Value, json};

use crate::{
    sources::in_sizes,
    world::{Journey, NOW, Page},
};

/// Counts the questions of the source that wait for a lock.
const WAITING: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND wait_event_type = 'Lock'";

#[test]
fn a_table_of_a_database_is_connected_and_outlives_a_stop_of_the_server() {
    let mut server = Postgres::with_orders();
    let journey = Journey::with("databases", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    journey.chat(|page| {
        page.go("Data");
        page.click("Connect a database");
        page.fill("Address", &format!("postgresql://reader@127.0.0.1:{}/postgres", server.port()));
        page.click("Review");
        page.says("The database asks for a password.");
        page.fill("Password", "wrong");
        page.click("Review");
        wait("the refusal of the password", || {
            let script = "return !!document.querySelector('.connect .note[role=alert]');";
            (page.script(script) == json!(true)).then_some(())
        });
        page.fill("Password", PASSWORD);
        page.click("Review");
        page.says("Which table or view is the source?");
        page.click("orders");
        page.says("Nothing is connected yet.");
        page.says("summed");
    });
    in_sizes(&journey, "database-survey");
    journey.picture("database-found.png");
    journey.chat(|page| {
        page.named("footer button", "Connect", true).click().expect("a click");
        page.says("orders is connected.");
        page.click("Show the source");
        page.named("[role=tab]", "Rows", false).click().expect("a click");
        wait("the rows of the database", || cell(page, "2", "4").is_string().then_some(()));
        page.says("more than 500 rows");
    });
    journey.picture("database-rows.png");

    // The server stops in the middle of a question, which waits for a lock.
    let held = server.hold("orders");
    journey.chat(|page| page.click("net"));
    wait("the question to run", || (server.sql(WAITING) == "1").then_some(()));
    server.stop();
    drop(held);
    journey.chat(|page| {
        wait("the reason", || {
            let script = "return !!document.querySelector('.grid-place [role=alert]');";
            (page.script(script) == json!(true)).then_some(())
        });
    });
    journey.picture("database-stopped.png");
    server.start_again();
    journey.chat(|page| {
        wait("the rows of the database, in order", || {
            if page.find(".grid-place button", "Try again", true).is_some() {
                page.click("Try again");
            }
            (cell(page, "2", "5") == json!("99.25")).then_some(())
        });
    });
    journey.assert_in_no_file(PASSWORD);
    journey.chat(|page| {
        page.click("More for this source");
        page.named("[role=menuitem]", "Remove source", true).click().expect("a click");
        page.says("The connection, its password and the definitions are deleted.");
        page.click("Remove and erase");
        page.says("Drop files anywhere on this window");
    });
    journey.quit();
    journey.assert_log_verifies();
}

#[test]
fn an_address_that_leads_nowhere_says_why_and_stores_nothing() {
    let journey = Journey::with("databases-wrong", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    journey.chat(|page| {
        page.go("Data");
        page.click("Connect a database");
        page.fill("Address", "db.example.com/shop");
        page.click("Review");
        page.says("The address begins with the kind of database, such as postgresql://.");
        // The password leaves the address as soon as the field is left.
        page.fill("Address", &format!("postgresql://ana:secret-of-ana@127.0.0.1:{port}/shop"));
        page.click("Review");
        wait("the reason", || {
            let script = "return !!document.querySelector('.connect [role=alert]');";
            (page.script(script) == json!(true)).then_some(())
        });
        assert!(!page.text().contains("secret-of-ana"), "the password is not shown");
        page.click("Cancel");
        page.says("Drop files anywhere on this window");
    });
    assert_eq!(journey.call("sources_list", json!({})).expect("sources")["sources"], json!([]));
    journey.quit();
    journey.assert_in_no_file("secret-of-ana");
}

/// Returns the text of a cell; null if it is not drawn.
fn cell(page: &Page<'_>, row: &str, column: &str) -> Value {
    let script = format!(
        "const cell = document.querySelector('[aria-rowindex=\"{row}\"] [aria-colindex=\"{column}\"]'); \
         const text = cell?.innerText.trim() ?? null; return text === '…' ? null : text;"
    );
    page.script(&script)
}
