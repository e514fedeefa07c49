//! A driver that does not come with the app: nothing of it is loaded before a person accepted its
//! path and hash, it reaches only the named hosts, and a changed library is asked about again.

use std::{fs, io::Write as _, path::PathBuf};

use contract::{AgentError, Commands as _};
use kit::postgres::{PASSWORD, Postgres};
use serde_json::json;

use super::{World, named, only, questions};

/// Copies the library for PostgreSQL, as one that the app does not know.
fn copy_library(world: &World) -> PathBuf {
    let shipped = kit::programs::data_drivers().join("libadbc_driver_postgresql.so");
    let path = world.folder.path().join("libother.so");
    fs::copy(shipped, &path).unwrap();
    path
}

fn address(server: &Postgres) -> String {
    format!("postgresql://reader:*@127.0.0.1:{}/postgres#public.orders", server.port())
}

async fn ask(world: &World) -> Result<serde_json::Value, AgentError> {
    let query = json!({"source": "orders", "measures": ["net"], "by": ["country"], "order": [{"by": "country"}]});
    Ok(json!(world.measure(query).await?.rows))
}

#[tokio::test(flavor = "multi_thread")]
async fn another_driver_is_loaded_only_as_it_was_accepted() {
    let server = Postgres::with_orders();
    // A result cannot have the type of the column that is dropped.
    server.sql("ALTER TABLE orders DROP COLUMN note");
    let world = World::new().await;
    let library = copy_library(&world);
    let path = library.display().to_string();
    let (address, before) = (address(&server), server.log());
    let asked =
        only(world.connect(&address, None, &[("library", &path), ("password", PASSWORD)]).await);
    assert_eq!(questions(&asked), ["driver"]);
    let (text, hash) =
        (asked.questions[0].text.to_string(), asked.questions[0].choices[0].value.clone());
    for part in
        [path.as_str(), &hash, &format!("127.0.0.1:{}", server.port()), "without your files"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(server.log(), before, "nothing was loaded");
    let wrong = [("library", path.as_str()), ("password", PASSWORD), ("driver", &"0".repeat(64))];
    assert_eq!(questions(&only(world.connect(&address, None, &wrong).await)), ["driver"]);

    let answers = [("library", path.as_str()), ("password", PASSWORD), ("driver", &hash)];
    let stored = only(world.connect(&address, None, &answers).await);
    assert!(stored.is_stored, "{stored:?}");
    let rows = ask(&world).await.unwrap();
    assert_eq!(rows[0], json!(["de", 49_750]), "{rows}");
    let rows =
        world.query("SELECT sum(net) AS net FROM orders WHERE country = 'de'").await.unwrap();
    assert_eq!(rows.rows, [[json!(49_750)]]);
    let notes = world.host.source_describe(named("orders")).await.unwrap();
    assert!(notes.samples["country"].contains(&"se".to_owned()), "{notes:?}");

    let mut changed = fs::OpenOptions::new().append(true).open(&library).unwrap();
    changed.write_all(b"x").unwrap();
    drop(changed);
    let error = ask(&world).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("driver_changed"), "{error:?}");
    assert!(error.hint_text().unwrap().contains("--name orders"), "{error:?}");
    let asked = only(world.connect(&address, Some("orders"), &[]).await);
    let text = asked.questions[0].text.to_string();
    assert!(questions(&asked) == ["driver"] && text.contains("has changed"), "{text}");
    let hash = asked.questions[0].choices[0].value.clone();
    assert!(only(world.connect(&address, Some("orders"), &[("driver", &hash)]).await).is_stored);
    assert!(ask(&world).await.is_ok());
    fs::remove_file(&library).unwrap();
    assert_eq!(ask(&world).await.unwrap_err().reason_text(), Some("driver_missing"));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_driver_reaches_only_the_hosts_that_were_named() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    let path = copy_library(&world).display().to_string();
    let address = address(&server);
    let library = ("library", path.as_str());
    let asked = only(world.connect(&address, None, &[library, ("hosts", "none")]).await);
    assert!(asked.questions[0].text.contains("without a network"), "{asked:?}");
    let hash = asked.questions[0].choices[0].value.clone();
    for hosts in ["none", "db.example.com:5432"] {
        let answers =
            [library, ("hosts", hosts), ("password", PASSWORD), ("driver", hash.as_str())];
        let view = world.connect(&address, None, &answers).await;
        assert!(view.failure.is_some(), "{hosts}: {view:?}");
    }
    assert!(!server.log().contains("connection authorized: user=reader"), "{}", server.log());
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_driver_is_told_with_the_command_that_installs_it() {
    let world = World::new().await;
    let asked =
        only(world.connect("trino://lake.example.com:443/sales?table=orders", None, &[]).await);
    assert_eq!(questions(&asked), ["library"]);
    assert!(asked.questions[0].text.contains("dbc install trino"), "{asked:?}");
    let view =
        world.connect("trino://lake.example.com:443/sales", None, &[("library", "lib.so")]).await;
    assert_eq!(view.failure.unwrap().reason_text(), Some("driver_missing"));
    let job = world.connect(
        "snowflake://ann:secret@acme/SHOP#ORDERS",
        None,
        &[("library", "/etc/passwd")],
    );
    assert_eq!(questions(&only(job.await)), ["hosts"]);
    world.host.stop().await;
}
