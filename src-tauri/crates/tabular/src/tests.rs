//! Tests with export files as advertising platforms and spreadsheets write them.

mod hostile;
mod schema;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use tempfile::TempDir;

use crate::{DateOrder, Encoding, MappingError, Schema, Survey, TableError, parse_amount};

/// A row as read: day, campaign, amount in micro-units, currency.
type Read = (String, String, i64, String);

fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("export.csv");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn utf16(text: &str) -> Vec<u8> {
    let mut bytes = vec![0xFF, 0xFE];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

fn survey_of(path: &Path) -> Result<Survey<'static>, TableError> {
    Survey::from_file(path, schema::delivery())
}

fn read_with(path: &Path, pairs: &[(&str, &str)]) -> (Survey<'static>, Vec<Read>) {
    let survey = survey_of(path).unwrap();
    let headings: BTreeMap<String, String> =
        pairs.iter().map(|(f, h)| ((*f).to_owned(), (*h).to_owned())).collect();
    let mapping = survey.map(&headings, &BTreeMap::new()).unwrap();
    let formats = survey.formats(&mapping).unwrap();
    let totals = mapping.total_lines(schema::delivery());
    let mut rows = survey.rows().unwrap();
    let mut read = Vec::new();
    while let Some((_, record)) = rows.next_row().unwrap() {
        if totals.is_total(record) {
            continue;
        }
        let day = formats.days.parse(mapping.source("day").text(record)).unwrap().to_string();
        let spend = parse_amount(mapping.source("spend").text(record), formats.amounts).unwrap();
        let campaign = mapping.source("campaign").text(record).to_owned();
        read.push((day, campaign, spend, mapping.source("currency").text(record).to_owned()));
    }
    (survey, read)
}

fn assert_reads(
    bytes: &[u8],
    layout: &str,
    expected: &[(&str, &str, i64, &str)],
) -> Survey<'static> {
    let (_folder, path) = file(bytes);
    let (survey, read) = read_with(&path, &[]);
    assert_eq!(survey.layout.map(|l| l.id.as_str()), Some(layout));
    let read: Vec<_> =
        read.iter().map(|(d, c, s, m)| (d.as_str(), c.as_str(), *s, m.as_str())).collect();
    assert_eq!(read, expected);
    survey
}

const ENGLISH: &str = "Campaign report\nNovember 1, 2026 - November 2, 2026\nDay,Campaign,Campaign ID,Currency code,Cost,Impr.\n2026-11-01,Brand,11,USD,\"1,234.50\",\"12,000\"\n2026-11-02,Brand,11,USD,1.005,10\nTotal: Campaigns, --, --,USD,\"1,235.505\",\"12,010\"\nTotal: Account, --, --,USD,\"1,235.505\",\"12,010\"\n";
const SWEDISH: &str = "Kampanjrapport\n1 november 2026 - 2 november 2026\nDag\tKampanj\tKampanj-id\tValutakod\tKostnad\tVisn.\n2026-11-01\tVår & höst\t11\tSEK\t1 234,50\t12 000\n2026-11-02\tVår & höst\t11\tSEK\t10,00\t10\nSumma: Kampanjer\t --\t --\tSEK\t1 244,50\t12 010\n";
const GERMAN: &str = "Kampagnenbericht\n01.11.2026 - 02.11.2026\nTag;Kampagne;Währungscode;Kosten;Impressionen\n01.11.2026;Frühling;EUR;1.234,50;12.000\n02.11.2026;Frühling;EUR;1.234;10\nGesamt: Konto; --;EUR;2.468,50;12.010\n";

const ENGLISH_ROWS: [(&str, &str, i64, &str); 2] =
    [("2026-11-01", "Brand", 1_234_500_000, "USD"), ("2026-11-02", "Brand", 1_005_000, "USD")];
const SWEDISH_ROWS: [(&str, &str, i64, &str); 2] = [
    ("2026-11-01", "Vår & höst", 1_234_500_000, "SEK"),
    ("2026-11-02", "Vår & höst", 10_000_000, "SEK"),
];
const GERMAN_ROWS: [(&str, &str, i64, &str); 2] = [
    ("2026-11-01", "Frühling", 1_234_500_000, "EUR"),
    ("2026-11-02", "Frühling", 1_234_000_000, "EUR"),
];

#[test]
fn google_ads_in_english_is_read_without_titles_and_totals() {
    let survey = assert_reads(ENGLISH.as_bytes(), "google-ads", &ENGLISH_ROWS);
    assert_eq!((survey.separator(), survey.header_line), (Some(','), 3));
    let survey = assert_reads(&utf16(ENGLISH), "google-ads", &ENGLISH_ROWS);
    assert_eq!(survey.encoding(), Some(Encoding::Utf16Le));
}

#[test]
fn google_ads_in_swedish_is_read_without_titles_and_totals() {
    assert_reads(SWEDISH.as_bytes(), "google-ads", &SWEDISH_ROWS);
    let survey = assert_reads(&utf16(SWEDISH), "google-ads", &SWEDISH_ROWS);
    assert_eq!(survey.separator(), Some('\t'));
}

#[test]
fn google_ads_in_german_is_read_without_titles_and_totals() {
    let survey = assert_reads(GERMAN.as_bytes(), "google-ads", &GERMAN_ROWS);
    assert_eq!(survey.separator(), Some(';'));
    let survey = assert_reads(&latin1(GERMAN), "google-ads", &GERMAN_ROWS);
    assert_eq!(survey.encoding(), Some(Encoding::Windows1252));
    assert_reads(&utf16(GERMAN), "google-ads", &GERMAN_ROWS);
}

#[test]
fn utf16_without_a_mark_and_with_the_high_byte_first_is_recognised() {
    assert_reads(&utf16(ENGLISH)[2..], "google-ads", &ENGLISH_ROWS);
    let big: Vec<u8> =
        [0xFE, 0xFF].into_iter().chain(ENGLISH.encode_utf16().flat_map(u16::to_be_bytes)).collect();
    assert_reads(&big, "google-ads", &ENGLISH_ROWS);
}

#[test]
fn meta_ads_names_its_currency_in_the_heading() {
    let text = "\u{feff}Campaign name,Ad set name,Day,Amount spent (SEK),Impressions,Reporting starts,Reporting ends\n,,,150.5,300,2026-11-01,2026-11-02\nAlpha,Set,2026-11-01,100.25,200,2026-11-01,2026-11-01\nAlpha,Set,2026-11-02,50.25,100,2026-11-02,2026-11-02\n";
    let expected =
        [("2026-11-01", "Alpha", 100_250_000, "SEK"), ("2026-11-02", "Alpha", 50_250_000, "SEK")];
    assert_reads(text.as_bytes(), "meta-ads", &expected);
}

#[test]
fn meta_ads_without_a_day_column_has_the_days_of_its_reporting_period() {
    let text = "Reporting starts,Reporting ends,Campaign name,Impressions,Amount spent (EUR)\n2026-11-01,2026-11-01,Alpha,200,7\n";
    assert_reads(text.as_bytes(), "meta-ads", &[("2026-11-01", "Alpha", 7_000_000, "EUR")]);
}

#[test]
fn our_own_layout_is_known_in_every_encoding() {
    let text = "account_id,advertiser,campaign_id,campaign_name,line_item_id,line_item_name,date,spend,impressions\n7,Räv,A,Höst,1,Rad,2026-11-09,12.34,100\n";
    let expected = [("2026-11-09", "Höst", 12_340_000, "")];
    for bytes in [text.as_bytes().to_vec(), latin1(text), utf16(text)] {
        assert_reads(&bytes, "delivery", &expected);
    }
}

#[test]
fn the_dates_of_a_column_say_their_order() {
    let days = |list: &[&str]| {
        let rows: String = list.iter().map(|day| format!("{day},A,1\n")).collect();
        let (_folder, path) = file(format!("Day,Campaign,Cost\n{rows}").as_bytes());
        let (_, read) = read_with(&path, &[]);
        read.into_iter().map(|row| row.0).collect::<Vec<_>>()
    };
    assert_eq!(days(&["1/11/2026", "13/11/2026"]), ["2026-11-01", "2026-11-13"]);
    assert_eq!(days(&["11/1/2026", "11/13/2026"]), ["2026-11-01", "2026-11-13"]);
    assert_eq!(days(&["1.11.2026", "2.11.26"]), ["2026-11-01", "2026-11-02"]);
    assert_eq!(days(&["2026/11/01", "20261102"]), ["2026-11-01", "2026-11-02"]);
    let in_november = ["2026-11-01", "2026-11-02", "2026-11-03"];
    assert_eq!(days(&["26-11-01", "26-11-02", "26-11-03"]), in_november);
    assert_eq!(days(&["26.11.01", "26.11.02", "26.11.03"]), in_november);
    assert_eq!(days(&["\"Nov 1, 2026\"", "2 nov. 2026"]), ["2026-11-01", "2026-11-02"]);
    assert_eq!(
        days(&["2026-11-01 00:00:00", "2026-11-02T00:00:00Z"]),
        ["2026-11-01", "2026-11-02"]
    );
}

#[test]
fn a_file_with_bytes_that_are_no_characters_says_so() {
    let is_malformed = |letter: u16| {
        let text = "Day,Campaign,Cost\n2026-11-01,A,1\n".encode_utf16();
        let units = text.map(|unit| if unit == u16::from(b'A') { letter } else { unit });
        let bytes: Vec<u8> = [0xfeff].into_iter().chain(units).flat_map(u16::to_le_bytes).collect();
        let (_folder, path) = file(&bytes);
        survey_of(&path).unwrap().has_malformed_text().unwrap()
    };
    assert!(is_malformed(0xd800) && !is_malformed(u16::from(b'B')));
}

#[test]
fn a_column_that_does_not_say_the_order_of_its_dates_is_marked() {
    let (_folder, path) = file(b"Day,Campaign,Cost\n1/11/2026,A,1\n2/11/2026,A,1\n");
    let survey = survey_of(&path).unwrap();
    let mapping = survey.map(&BTreeMap::new(), &BTreeMap::new()).unwrap();
    let formats = survey.formats(&mapping).unwrap();
    assert!(formats.days.is_ambiguous() && formats.days.parse("1/11/2026").is_none());
    let decided = crate::DateFormat::with_order(DateOrder::DayFirst);
    assert_eq!(decided.parse("1/11/2026").unwrap().to_string(), "2026-11-01");
    let year_first = crate::DateFormat::with_order(DateOrder::YearFirst);
    assert_eq!(year_first.parse("26-11-01").unwrap().to_string(), "2026-11-01");
}

#[test]
fn the_order_is_found_behind_thousands_of_rows_that_leave_it_open() {
    let mut text = "Day,Campaign,Cost\n".to_owned();
    text.extend((0..5_000).map(|_| "1/11/2026,A,1.5\n"));
    text.push_str("30/11/2026,A,1.5\n");
    let (_folder, path) = file(text.as_bytes());
    let (_, read) = read_with(&path, &[]);
    assert_eq!(read[0].0, "2026-11-01");
}

#[test]
fn currencies_in_cells_and_decimal_commas_are_read() {
    let text = "Dag;Kampanj;Kostnad\n2026-11-01;A;1 234,50 kr\n2026-11-02;A;1.234 kr\n";
    let expected = [("2026-11-01", "A", 1_234_500_000, ""), ("2026-11-02", "A", 1_234_000_000, "")];
    let (_folder, path) = file(text.as_bytes());
    let survey = survey_of(&path).unwrap();
    assert_eq!(survey.separator(), Some(';'));
    // `1.234` is resolved only by a cell that shows both signs or a comma with two digits.
    assert_reads(text.as_bytes(), "google-ads", &expected);
}

#[test]
fn an_unknown_layout_is_read_with_the_columns_that_a_person_names() {
    let text = "When|What|How much\n2026-11-01|Alpha|5\nTotal||5\n";
    let (_folder, path) = file(text.as_bytes());
    let survey = survey_of(&path).unwrap();
    assert!(survey.layout.is_none());
    assert_eq!(survey.separator(), Some('|'));
    assert_eq!(survey.columns[1].heading, "What");
    assert_eq!(survey.columns[2].samples, ["5", "5"]);
    let missing = survey.map(&BTreeMap::new(), &BTreeMap::new());
    assert_eq!(missing, Err(MappingError::FieldMissing("day".to_owned())));
    let pairs = [("day", "When"), ("campaign", "what"), ("spend", "How much")];
    let (_, read) = read_with(&path, &pairs);
    assert_eq!(read, [("2026-11-01".into(), "Alpha".into(), 5_000_000, String::new())]);
}

#[test]
fn columns_that_a_mapping_names_must_exist() {
    let (_folder, path) = file(b"Day,Campaign,Cost\n2026-11-01,A,1\n");
    let survey = survey_of(&path).unwrap();
    let pair = |field: &str, value: &str| BTreeMap::from([(field.to_owned(), value.to_owned())]);
    let none = BTreeMap::new();
    assert_eq!(
        survey.map(&pair("spend", "Price"), &none),
        Err(MappingError::NoColumn("Price".to_owned()))
    );
    assert_eq!(
        survey.map(&none, &pair("colour", "red")),
        Err(MappingError::NoField("colour".to_owned()))
    );
    let mapping = survey.map(&none, &pair("account", "Shop")).unwrap();
    assert_eq!(mapping.constants["account"], "Shop");
}

#[test]
fn columns_can_be_named_by_their_number_and_left_out() {
    let (_folder, path) = file(b"Day,Campaign,Cost,Cost,\n2026-11-01,A,1,2,B\n");
    let survey = survey_of(&path).unwrap();
    let pairs = |list: &[(&str, &str)]| -> BTreeMap<String, String> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    };
    let headings = pairs(&[("spend", "#4"), ("line_item", "#5")]);
    let mapping = survey.map(&headings, &BTreeMap::new()).unwrap();
    assert_eq!((mapping.columns["spend"], mapping.columns["line_item"]), (3, 4));
    let gone = survey.map(&pairs(&[("spend", "")]), &BTreeMap::new());
    assert_eq!(gone, Err(MappingError::FieldMissing("spend".to_owned())));
    assert_eq!(
        survey.map(&pairs(&[("spend", "#6")]), &BTreeMap::new()),
        Err(MappingError::NoColumn("#6".to_owned()))
    );
    let without = survey.map(&BTreeMap::new(), &pairs(&[("account", ""), ("account_id", "")]));
    assert!(without.unwrap().constants.is_empty(), "the layout's own account is left out");
}

#[test]
fn fields_are_suggested_by_headings_of_any_layout_and_by_days() {
    let (_folder, path) = file(b"Report\nWhen,Campaign name,Kostnad,Note\n2026-11-01,A,1,x\n");
    let survey = survey_of(&path).unwrap();
    assert!(survey.layout.is_none());
    assert_eq!((survey.header_line, survey.title_lines), (2, 1));
    assert_eq!(survey.column_names(), "when | campaign name | kostnad | note");
    let none = BTreeMap::new();
    let mapping = survey.suggest_mapping(&none, &none).unwrap();
    let columns: Vec<_> = mapping.columns.iter().map(|(f, at)| (f.as_str(), *at)).collect();
    assert_eq!(columns, [("campaign", 1), ("day", 0), ("spend", 2)]);
    assert!(survey.map(&none, &none).is_err(), "a suggestion alone imports nothing");
}

#[test]
fn missing_columns_are_named() {
    let (_folder, path) = file(b"Campaign,Impressions\nA,1\n");
    let survey = survey_of(&path).unwrap();
    let missing = survey.map(&BTreeMap::new(), &BTreeMap::new());
    assert_eq!(missing, Err(MappingError::FieldMissing("day".to_owned())));
}

#[test]
fn a_workbook_with_two_header_rows_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("export.xlsx");
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.write(0, 0, "Campaign report").unwrap();
    sheet.write(1, 0, "Time").unwrap();
    sheet.write(1, 1, "Campaign").unwrap();
    sheet.write(1, 2, "Performance").unwrap();
    for (column, heading) in ["Day", "Campaign", "Cost", "Impr."].iter().enumerate() {
        sheet.write(2, u16::try_from(column).unwrap(), *heading).unwrap();
    }
    let date = Format::new().set_num_format("yyyy-mm-dd");
    let day = ExcelDateTime::from_ymd(2026, 11, 1).unwrap();
    sheet.write_with_format(3, 0, &day, &date).unwrap();
    sheet.write(3, 1, "Brand").unwrap();
    sheet.write(3, 2, 1234.5).unwrap();
    sheet.write(3, 3, 12_000).unwrap();
    sheet.write(4, 0, "Total").unwrap();
    sheet.write(4, 2, 1234.5).unwrap();
    book.save(&path).unwrap();
    let (survey, read) = read_with(&path, &[]);
    assert_eq!((survey.encoding(), survey.header_line), (None, 3));
    assert_eq!(read, [("2026-11-01".into(), "Brand".into(), 1_234_500_000, String::new())]);
}

#[test]
fn files_that_are_no_tables_are_refused() {
    let (_folder, path) = file(b"");
    assert!(matches!(survey_of(&path), Err(TableError::Empty)));
    let (_folder, path) = file(b"PK\x03\x04rest");
    assert!(matches!(survey_of(&path), Err(TableError::Workbook(_))));
    assert!(matches!(survey_of(&path.with_extension("gone")), Err(TableError::Io(_))));
}

#[test]
fn a_schema_without_fields_and_layouts_reads_the_rows_of_any_table() {
    let (_folder, path) = file(b"Report\nName,Depth\nLake,12\nSea,40\n");
    let schema = Schema::default();
    let survey = Survey::from_file(&path, &schema).unwrap();
    assert_eq!((survey.header_line, survey.columns.len()), (2, 2));
    let mapping = survey.map(&BTreeMap::new(), &BTreeMap::new()).unwrap();
    assert!(mapping.columns.is_empty() && mapping.missing(&schema).is_empty());
    let mut rows = survey.rows().unwrap();
    assert_eq!(rows.next_row().unwrap().unwrap().1, vec!["Lake", "12"]);
}
