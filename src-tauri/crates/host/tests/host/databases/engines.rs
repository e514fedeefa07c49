//! An engine that is made for many machines, through its own ADBC driver: Apache Spark, whose server
//! runs on this computer, is asked over 50 million rows. This proves the interface, not the scale.
//! Only `make soak` runs it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{World, only, questions};

const ROWS: u64 = 50_000_000;

/// The packages of Java that Spark reaches into.
const OPENED: [&str; 11] = [
    "java.io",
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "sun.nio.ch",
    "sun.util.calendar",
];

/// Returns the folder that `make soak` fills.
fn spark_folder() -> PathBuf {
    let beside = kit::programs::data_drivers().parent().unwrap().join("spark");
    assert!(beside.join("jars").is_dir(), "run `make soak`: {} is missing", beside.display());
    beside
}

/// Returns a command for one of Spark's programs.
fn spark(folder: &Path, settings: &[String]) -> Command {
    let mut command = Command::new("java");
    command.args(["-Xmx3g", "-cp"]).arg(format!("{}/jars/*", spark_folder().display()));
    for package in OPENED {
        command.arg(format!("--add-opens=java.base/{package}=ALL-UNNAMED"));
    }
    for setting in [
        "master=local[*]",
        "ui.enabled=false",
        "driver.bindAddress=127.0.0.1",
        "driver.host=127.0.0.1",
    ] {
        command.arg(format!("-Dspark.{setting}"));
    }
    for setting in settings {
        command.arg(format!("-Dspark.{setting}"));
    }
    let log = fs::File::options().create(true).append(true).open(folder.join("spark.log")).unwrap();
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command
}

/// Writes the table of orders as files.
fn write_orders(folder: &Path) -> PathBuf {
    let place = folder.join("orders");
    let sql = format!(
        "INSERT OVERWRITE DIRECTORY '{}' USING parquet SELECT id, date_add(DATE '2026-11-01', CAST(id % 30 AS INT)) AS day, \
         element_at(array('de', 'fr', 'se'), CAST(id % 3 AS INT) + 1) AS country, CAST(id % 100 + 0.25 AS DECIMAL(12, 2)) AS net FROM range({ROWS})",
        place.display()
    );
    let mut command = spark(folder, &["sql.catalogImplementation=in-memory".to_owned()]);
    command.args(["org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "-e", &sql]);
    assert!(command.status().expect("java of Debian").success(), "{}", log(folder));
    place
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("spark.log")).unwrap_or_default()
}

/// A running server. It is stopped when it is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = [
            "connect.grpc.binding.address=127.0.0.1".to_owned(),
            format!("connect.grpc.binding.port={port}"),
            "app.name=orders".to_owned(),
        ];
        let mut command = spark(folder, &settings);
        command.arg("org.apache.spark.sql.connect.service.SparkConnectServer");
        let server = Self { child: command.spawn().unwrap(), port };
        let latest = Instant::now() + Duration::from_secs(180);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < latest, "Spark answers: {}", log(folder));
            std::thread::sleep(Duration::from_millis(200));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the number of rows of a country and their sum in hundredths.
fn expected(country: u64) -> (u64, u64) {
    // The rows repeat after 300.
    (0..300).filter(|row| row % 3 == country).fold((0, 0), |(count, sum), row| {
        let times = ROWS / 300 + u64::from(row < ROWS % 300);
        (count + times, sum + times * (row % 100 * 100 + 25))
    })
}

fn decimal(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Returns a cell as decimal digits.
fn digits(cell: &Value) -> String {
    let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
    if text.contains('.') {
        format!("{text}00").split_at(text.find('.').unwrap() + 3).0.to_owned()
    } else {
        format!("{text}.00")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_million_rows_are_asked_through_spark() {
    if std::env::var_os("SOAK").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = write_orders(folder.path());
    let server = Server::start(folder.path());
    let world = World::new().await;
    let library = spark_folder().join("libadbc_driver_spark.so").display().to_string();
    let address = format!("sc://127.0.0.1:{}#parquet.\"{}\"", server.port, place.display());
    let asked = only(world.connect(&address, Some("orders"), &[("library", &library)]).await);
    assert_eq!(questions(&asked), ["driver"]);
    let hash = asked.questions[0].choices[0].value.clone();
    let answers = [("library", library.as_str()), ("driver", &hash)];
    let stored = only(world.connect(&address, Some("orders"), &answers).await);
    assert!(stored.is_stored, "{stored:?}");

    let began = Instant::now();
    let query = json!({"source": "orders", "measures": ["net", "rows", {"ratio": ["net", "rows"], "as": "each"}], "by": ["country"], "order": [{"by": "country"}]});
    let result = world.measure(query).await.unwrap();
    println!("grouped {ROWS} rows in {:?}", began.elapsed());
    assert_eq!(result.rows.len(), 3, "{result:?}");
    for (row, country) in result.rows.iter().zip(0..) {
        let (count, sum) = expected(country);
        assert_eq!(row[0], json!(["de", "fr", "se"][usize::try_from(country).unwrap()]));
        assert_eq!(
            (digits(&row[1]), row[2].to_string()),
            (decimal(sum), count.to_string()),
            "{row:?}"
        );
        // Both sides are exact, and the quotient is rounded to nine places.
        let nine = (u128::from(sum) * 20_000_000 + u128::from(count)) / (2 * u128::from(count));
        let each = format!("{}.{:09}", nine / 1_000_000_000, nine % 1_000_000_000);
        let told = row[3].as_str().map_or_else(|| row[3].to_string(), str::to_owned);
        assert_eq!(told.trim_end_matches('0'), each.trim_end_matches('0'), "{row:?}");
    }
    let sql =
        "SELECT count(*) AS n, max(day) AS last FROM orders WHERE country = 'se' AND net > 50";
    let result = world.query(sql).await.unwrap();
    assert_eq!(result.rows.len(), 1, "{result:?}");
    assert_eq!(result.rows[0][1], json!("2026-11-30"));
    let error = world.query("SELECT count(*) FROM orders WHERE nothing = 1").await.unwrap_err();
    assert_eq!(error.reason_text(), Some("query_failed"), "{error:?}");

    // A name that is not known to be this computer's is reached through the proxy of the host.
    let address = format!("sc://LOCALHOST:{}#parquet.\"{}\"", server.port, place.display());
    let proxied = only(world.connect(&address, Some("proxied"), &[("library", &library)]).await);
    assert!(proxied.is_stored, "the driver is known: {proxied:?}");
    let result = world.query("SELECT count(*) AS n FROM proxied").await.unwrap();
    assert_eq!(result.rows, [[json!(ROWS)]]);
    world.host.stop().await;
}
