//! Tests of the figures of `csign data`: queries, metric queries, and each form of output.

use super::*;
use crate::terminal::Terminal;

fn with_november() -> World {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    at_a_terminal(&world, &["add", &file]).ends_with(0);
    world
}

#[test]
fn a_query_returns_typed_columns_rows_and_what_proves_them() {
    let world = with_november();
    let sql =
        "SELECT Campaign, sum(Cost) AS cost FROM november GROUP BY Campaign ORDER BY Campaign";
    let result = query(&world, sql);
    assert_eq!(result["columns"][1]["name"], "cost", "{result}");
    assert_eq!(result["columns"][1]["type"], "decimal", "{result}");
    assert_eq!((cell(&result, 0, 0), cell(&result, 0, 1)), ("Elm".into(), "20".into()));
    assert_eq!(cell(&result, 1, 1), "210.75");
    for hash in ["query", "data_version"] {
        assert!(result[hash].as_str().is_some_and(|hash| hash.len() == 64), "{result}");
    }
    for refused in ["DELETE FROM november", "SELECT 1; SELECT 2", "SELECT * FROM '/etc/passwd'"] {
        let ran = run(&world, &["query", refused, "--json"]);
        assert!(ran.code != 0, "{refused}: {}", ran.out);
    }
}

#[test]
fn a_metric_query_is_computed_from_the_definitions() {
    let world = with_november();
    let described = run(&world, &["describe", "november", "--json"]).ends_with(0).json();
    let measures = described["definitions"]["measures"].as_object().expect("measures").clone();
    assert!(measures.contains_key("clicks"), "{described}");
    let result = measure(
        &world,
        r#"{"source": "november", "measures": ["clicks"], "by": ["campaign"], "order": [{"by": "clicks", "descending": true}]}"#,
    );
    assert_eq!((cell(&result, 0, 0), cell(&result, 0, 1)), ("Oak".into(), "21".into()), "{result}");
    let again = measure(
        &world,
        r#"{"order": [{"by": "clicks", "descending": true}], "by": ["campaign"], "measures": ["clicks"], "source": "november"}"#,
    );
    assert_eq!(result["sql"], again["sql"]);
    let ran = run(&world, &["measure", r#"{"measures": ["klicks"], "source": "november"}"#]);
    assert_says(&ran.ends_with(1).err, &["klicks", "clicks"]);
    run(&world, &["measure", "{\"measures\": "]).ends_with(2);
}

#[test]
fn a_metric_query_is_printed_in_words_above_its_figures() {
    let world = with_november();
    let asked = r#"{"source": "november", "measures": ["clicks"], "by": ["campaign"], "where": {"campaign": ["Oak", "Elm"]}, "period": {"month": "2026-11"}}"#;
    let words = "Clicks · by campaign · Campaign: Oak, Elm · Nov 2026 (1–30 Nov) · from november";
    let ran = run(&world, &["measure", asked]).ends_with(0);
    assert_eq!(ran.out.lines().next(), Some(words), "{}", ran.out);
    let result = measure(&world, asked);
    assert_eq!(result["asked"]["parts"][2]["at"], "/where/0", "{result}");
    assert_eq!(result["asked"]["parts"][3]["text"], "Nov 2026 (1–30 Nov)", "{result}");
    let record = result["record"].to_string();
    let ran = run(&world, &["verify", &record, "--json"]).ends_with(0).json();
    assert_eq!(ran["agrees"], true, "{ran}");
    let csv = run(&world, &["measure", asked, "--csv"]).ends_with(0);
    assert!(csv.out.starts_with("campaign,clicks"), "{}", csv.out);
}

#[test]
fn the_definitions_of_a_source_are_approved_in_one_step() {
    let world = with_november();
    let mut terminal = Terminal::start(&world, &["data", "approve", "november"]);
    terminal.wait_for("[y/N]");
    terminal.type_in("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_says(&seen, &["clicks", "sum: Clicks", "sha256", "approved."]);
    let sources = run(&world, &["list", "--json"]).ends_with(0).json();
    assert_eq!(sources["sources"][0]["proposed"], 0, "{sources}");
    let result = measure(&world, r#"{"source": "november", "measures": ["clicks"]}"#);
    assert_eq!(result["definition_state"], "approved", "{result}");
}

#[test]
fn definitions_that_changed_since_they_were_shown_are_not_approved() {
    let world = with_november();
    let described = run(&world, &["describe", "november", "--json"]).ends_with(0).json();
    let hash = described["definitions_hash"].as_str().expect("a hash").to_owned();
    let ran = at_a_terminal(&world, &["approve", "november"]).ends_with(4);
    assert_says(&ran.out, &[&hash, "Nothing is approved."]);
    at_a_terminal(&world, &["approve", "november", "--json"]).ends_with(2);
    run(&world, &["approve", "november", "--hash", &hash]).ends_with(3);
    let mut terminal = Terminal::start(&world, &["data", "approve", "november"]);
    terminal.wait_for("[y/N]");
    let file = world.data().join("data/sources/november/definitions.yaml");
    let own = fs::read_to_string(&file).expect("definitions");
    let other = "source: november\ntime: {column: Day}\nmeasures:\n  clicks: {average: Clicks}\n";
    fs::write(&file, other).expect("written");
    terminal.type_in("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    assert_says(&seen, &["changed since they were shown", "Review them again."]);
    let ran = at_a_terminal(&world, &["approve", "november", "--hash", &hash]).ends_with(1);
    assert_says(&ran.out, &["changed since they were shown"]);
    fs::write(&file, own).expect("written");
    at_a_terminal(&world, &["approve", "november", "--hash", &hash]).ends_with(0);
    let sources = run(&world, &["list", "--json"]).ends_with(0).json();
    assert_eq!(sources["sources"][0]["proposed"], 0, "{sources}");
}

#[test]
fn a_table_fits_the_terminal_and_says_what_it_does_not_show() {
    let world = with_november();
    let wide: Vec<String> =
        (0..12).map(|at| format!("sum(Cost) * 1000000 AS figure_number_{at}")).collect();
    let sql = format!("SELECT Campaign, {} FROM november GROUP BY Campaign", wide.join(", "));
    let ran = at_a_terminal(&world, &["query", &sql]).ends_with(0);
    let table: Vec<String> = ran
        .out
        .lines()
        .take_while(|line| !line.contains("Not shown"))
        .map(|line| line.replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""))
        .collect();
    assert!(table.iter().all(|line| line.trim_end().chars().count() <= 80), "{}", ran.out);
    assert_says(&ran.out, &["Not shown: ", "and 1 more", "--csv"]);
    let whole = run(&world, &["query", &sql]).ends_with(0);
    assert!(whole.out.contains("figure_number_11") && !whole.out.contains("Not shown"));
}

#[test]
fn csv_json_and_parquet_have_everything() {
    let world = with_november();
    let sql = "SELECT Day, Campaign, Cost, Clicks FROM november ORDER BY Day, Campaign DESC";
    let ran = run(&world, &["query", sql, "--csv"]).ends_with(0);
    assert!(ran.out.starts_with("Day,Campaign,Cost,Clicks\n2026-11-01,Oak,100.5"), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 4);
    let parquet = world.path("copy.parquet").display().to_string();
    run(&world, &["query", sql, "--parquet", &parquet]).ends_with(0);
    let ran = run(&world, &["query", sql, "--parquet", &parquet]).ends_with(1);
    assert_says(
        &ran.err,
        &["copy.parquet exists already and stays as it is.", "Name another file"],
    );
    let ran = run(&world, &["query", sql, "--parquet", "-"]).ends_with(2);
    assert_says(&ran.err, &["--parquet needs the name of a file."]);
    run(&world, &["query", sql, "--parquet", &parquet, "--json"]).ends_with(2);
    at_a_terminal(&world, &["add", &parquet, "--name", "copy"]).ends_with(0);
    let sums = "SELECT sum(Cost), sum(Clicks), min(Day), max(Campaign) FROM ";
    let (one, other) =
        (query(&world, &format!("{sums}november")), query(&world, &format!("{sums}copy")));
    assert_eq!(one["rows"], other["rows"]);
}

#[test]
fn csv_says_what_it_has_otherwise_than_the_result() {
    let world = with_november();
    let sql = "SELECT '=1+1' AS a, 'x; @y' AS b, -5 AS c";
    let ran = run(&world, &["query", sql, "--csv"]).ends_with(0);
    assert_eq!(ran.out, "a,b,c\n'=1+1,\"x; '@y\",-5\n");
    assert_says(&ran.err, &["2 texts look like formulas and begin with an apostrophe."]);
    let figures =
        r#"{"source": "november", "measures": ["clicks"], "by": ["campaign"], "totals": true}"#;
    let ran = run(&world, &["measure", figures, "--csv"]).ends_with(0);
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
    assert_says(&ran.err, &["The totals are not among the rows; --json has them."]);
    let ran = run(&world, &["query", "SELECT 1 AS a", "--csv"]).ends_with(0);
    assert!(!ran.err.contains("note:"), "{}", ran.err);
}

#[test]
fn moments_of_imports_name_their_zone() {
    let world = with_november();
    for command in [&["list"][..], &["describe", "november"]] {
        let ran = run(&world, command).ends_with(0);
        assert_says(&ran.out, &["november.csv (", " UTC)"]);
    }
}

#[test]
fn the_columns_of_a_source_are_profiled() {
    let world = with_november();
    let found = run(&world, &["profile", "november", "--json"]).ends_with(0).json();
    assert_eq!(found["rows"], 3, "{found}");
    assert_eq!(found["basis"], "all_rows", "{found}");
    let columns = found["columns"].as_array().expect("columns");
    let of = |name: &str| columns.iter().find(|one| one["name"] == name).expect("the column");
    assert_eq!(of("Cost")["least"], "20.00");
    assert_eq!(of("Cost")["mean"], "76.91666667");
    assert_eq!(of("Campaign")["frequent"][0], serde_json::json!({"value": "Oak", "rows": 2}));
    let ran = run(&world, &["profile", "november", "--column", "Cost"]).ends_with(0);
    assert_says(&ran.out, &["Computed from all 3 rows.", "20.00", "110.25", "From", "Rows", "█"]);
    assert!(!ran.out.contains("Memo"), "{}", ran.out);
    let ran = at_a_terminal(&world, &["profile", "november"]).ends_with(0);
    assert_says(&ran.out, &["Different", "Campaign", "Oak", "2026-11-01"]);
    let ran = run(&world, &["profile", "november", "--column", "Costs"]).ends_with(1);
    assert_says(&ran.err, &["november has no column Costs", "csign data describe november"]);
}

#[test]
fn the_list_has_size_and_state() {
    let world = with_november();
    let ran = run(&world, &["list"]).ends_with(0);
    assert_says(&ran.out, &["State", "Size"]);
    let listed = run(&world, &["list", "--json"]).ends_with(0).json();
    let source = &listed["sources"][0];
    let expected = if source["proposed"] == 0 { "ready" } else { "to_approve" };
    assert_eq!(source["status"], expected, "{listed}");
    assert!(source["bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{listed}");
}

#[test]
fn a_parquet_file_has_exact_types_and_leaves_nothing_in_the_data_folder() {
    let world = with_november();
    let [one, other] = ["one", "other"].map(|name| world.path(name).display().to_string());
    let sql = "SELECT Campaign, sum(Clicks) * 10000000000000000000 AS huge, CAST(sum(Cost) / 3 AS DECIMAL(30, 10)) AS third, max(Day) AS last \
               FROM november GROUP BY Campaign ORDER BY Campaign";
    let ran = run(&world, &["query", sql, "--parquet", &one]).ends_with(0);
    assert_says(&ran.err, &["2 rows"]);
    at_a_terminal(&world, &["add", &one, "--name", "one"]).ends_with(0);
    let (asked, stored) =
        (query(&world, sql), query(&world, "SELECT * FROM one ORDER BY Campaign"));
    assert_eq!(asked["rows"], stored["rows"], "{stored}");
    let figures = r#"{"source": "november", "measures": ["clicks"], "by": ["campaign"]}"#;
    run(&world, &["measure", figures, "--parquet", &other]).ends_with(0);
    at_a_terminal(&world, &["add", &other, "--name", "other"]).ends_with(0);
    assert_eq!(
        query(&world, "SELECT count(*) AS n, sum(clicks) AS s FROM other")["rows"][0],
        serde_json::json!([2, 25])
    );
    let refused = world.path("refused").display().to_string();
    run(&world, &["query", "DELETE FROM november", "--parquet", &refused]).ends_with(1);
    assert!(!std::path::Path::new(&refused).exists());
    let staging = world.data().join("data").join("staging");
    let left: Vec<_> =
        std::fs::read_dir(&staging).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn all_pages_of_a_long_metric_query_are_printed() {
    let world = world();
    let rows: String = (0..2_500).map(|row| format!("2026-11-01,Campaign {row},1.25\n")).collect();
    let file = file(&world, "long.csv", format!("Day,Campaign,Cost\n{rows}"));
    at_a_terminal(&world, &["add", &file]).ends_with(0);
    let result =
        measure(&world, r#"{"source": "long", "measures": ["spend"], "by": ["campaign"]}"#);
    assert_eq!(result["rows"].as_array().map(Vec::len), Some(2_500));
}

#[test]
fn all_pages_of_a_long_result_are_printed() {
    let world = world();
    let rows: String = (0..25_000).map(|row| format!("2026-11-01,Campaign {row},1.25\n")).collect();
    let file = file(&world, "long.csv", format!("Day,Campaign,Cost\n{rows}"));
    at_a_terminal(&world, &["add", &file]).ends_with(0);
    let result = query(&world, "SELECT Campaign FROM long ORDER BY Campaign");
    assert_eq!(result["rows"].as_array().map(Vec::len), Some(25_000));
    assert_eq!(result["more"], Value::Null);
    let ran = at_a_terminal(&world, &["query", "SELECT Campaign FROM long"]).ends_with(0);
    assert_says(&ran.out, &["The first 50 of 25,000 rows are shown."]);
}

#[test]
fn recorded_figures_are_computed_again() {
    let world = with_november();
    let args = r#"{"query": {"source": "november", "measures": ["clicks"]}}"#;
    world.run(&["--json", "tools", "call", "data.measure", "--args", args]).ends_with(0);
    let records =
        world.run(&["--json", "audit", "list", "--type", "tool_outcome"]).ends_with(0).json();
    let record = records["records"][0]["seq"].to_string();
    let ran = run(&world, &["verify", &record, "--json"]).ends_with(0).json();
    assert_eq!((&ran["is_repeated"], &ran["agrees"]), (&true.into(), &true.into()), "{ran}");
    run(&world, &["verify", "1"]).ends_with(6);
}
