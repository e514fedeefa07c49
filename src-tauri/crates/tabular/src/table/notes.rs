//! Notes about findings and assumptions in a file, one sentence each.

use std::collections::BTreeMap;

use contract::{
    Amount, Text,
    sources::{ColumnUse, ImportDecisions, NumberSign, SheetFound},
    text,
};

use super::{
    cells::{counted::Counting, currency::Currency, value},
    column::Reading,
    day_notes::note_days,
    duplicates::Duplicates,
    plan::Plan,
    questions::is_pasted_twice,
    revise::file_sign,
    scan::Findings,
    sheet::Sheet,
    source::Source,
    stated::Stated,
    summed::Subtotal,
    titles::Titles,
    uses::{Decided, KeptOut},
    words,
};

/// The data from which the notes are made.
pub(crate) struct Seen<'a> {
    pub(crate) source: &'a Source,
    pub(crate) plan: &'a Plan,
    pub(crate) findings: &'a Findings,
    pub(crate) decided: &'a [Decided],
    pub(crate) duplicates: &'a Duplicates,
    pub(crate) duplicate_lines: &'a [(u64, String)],
    pub(crate) subtotals: &'a [Subtotal],
    pub(crate) decisions: &'a ImportDecisions,
    pub(crate) stated: Stated,
    pub(crate) titles: &'a Titles,
}

impl Seen<'_> {
    /// Returns all notes.
    pub(crate) fn notes(&self) -> Vec<Text> {
        let mut notes = Vec::new();
        self.note_source(&mut notes);
        self.note_titles(&mut notes);
        self.note_headings(&mut notes);
        self.note_columns(&mut notes);
        self.note_numbers(&mut notes);
        self.note_exponents(&mut notes);
        notes.extend(note_days(self.plan, self.findings, self.decisions));
        self.note_money(&mut notes);
        self.note_rows(&mut notes);
        notes
    }

    fn note_source(&self, notes: &mut Vec<Text>) {
        match self.source {
            Source::Text { encoding, is_certain: false, .. } => {
                let samples = self.findings.columns.iter().flat_map(|stats| &stats.samples);
                let sample =
                    samples.chain(&self.plan.header.headings).find(|text| !text.is_ascii());
                notes.push(text!(
                    "The text is not UTF-8. It was read as {encoding}, for example \"{sample}\". Another encoding can be chosen.",
                    encoding = encoding.name().to_owned(),
                    sample = sample.cloned().unwrap_or_default()
                ));
            }
            Source::Text { .. } => {}
            Source::Sheets { found, sheets, .. } => {
                for (sheet, found) in sheets.iter().zip(found) {
                    self.note_sheet(sheet, found, notes);
                }
            }
        }
    }

    fn note_sheet(&self, sheet: &Sheet, found: &SheetFound, notes: &mut Vec<Text>) {
        if !found.is_read && found.rows > 0 {
            let (name, rows) = (found.name.clone(), found.rows);
            notes.push(match (found.is_hidden, rows) {
                (true, 1) => text!("The hidden sheet {name} with 1 row was not read.", name),
                (true, _) => {
                    text!("The hidden sheet {name} with {rows} rows was not read.", name, rows)
                }
                (false, 1) => text!("The sheet {name} with 1 row was not read.", name),
                (false, _) => text!("The sheet {name} with {rows} rows was not read.", name, rows),
            });
        }
        let columns = self.plan.columns.iter().enumerate();
        let hidden = columns.filter(|(at, _)| found.is_read && sheet.hides_column(*at));
        let hidden: Vec<&str> = hidden.map(|(_, column)| column.name.as_str()).collect();
        if !hidden.is_empty() {
            notes.push(text!(
                "The sheet {name} hides columns, which are read, too: {columns}.",
                name = found.name.clone(),
                columns = hidden.join(", ")
            ));
        }
        if found.is_read && sheet.zero_formulas > 0 {
            notes.push(text!(
                "Formulas of the sheet {name} with the value 0: {cells}. If the program that wrote the workbook did not compute them, open it in a spreadsheet program, save it, and import it again.",
                cells = sheet.zero_formulas,
                name = found.name.clone()
            ));
        }
        if found.is_read && sheet.repeated > 0 {
            notes.push(text!(
                "Merged cells: their text was repeated below them. Cells that got it: {cells}.",
                cells = sheet.repeated
            ));
        }
        if found.is_read && sheet.merged_numbers > 0 {
            notes.push(text!(
                "{cells} merged cells have a number. It counts once, in their first row.",
                cells = sheet.merged_numbers
            ));
        }
    }

    /// Notes what the titles say and the rows do not.
    fn note_titles(&self, notes: &mut Vec<Text>) {
        if let Some((line, sample)) = self.titles.scaled.clone() {
            notes.push(text!(
                "Line {line} says that amounts are in thousands, millions or cents: {sample}. They are stored as they are written.",
                line,
                sample
            ));
        }
        let days = self.plan.time.map(|time| &self.findings.columns[time].days.set);
        let rows = days.and_then(|set| Some((set.days().next()?, set.days().last()?)));
        if let (Some(range), Some((first, last))) = (self.titles.range, rows)
            && (first < range.first || last > range.last)
        {
            notes.push(text!(
                "The title says {from} to {until}, but rows are from {first} to {last}.",
                from = range.first.to_string(),
                until = range.last.to_string(),
                first = first.to_string(),
                last = last.to_string()
            ));
        }
        let column = self.decided.iter().position(|one| one.usage == ColumnUse::Account);
        if let (Some(at), Some(title)) = (column, &self.titles.account)
            && let Some(account) = self.findings.columns[at].constant()
            && !value::text(account).eq_ignore_ascii_case(title)
        {
            notes.push(text!(
                "The title says that the account is {title}, but {column} says {account}. The column counts.",
                title = title.clone(),
                column = self.plan.columns[at].name.clone(),
                account = value::text(account).to_owned()
            ));
        }
        // Spreadsheet programs cut off what is behind their last row.
        let rows = self.plan.header.records as u64 + self.findings.records;
        if matches!(rows, 65_536 | 1_048_576) {
            notes.push(text!(
                "The file has {rows} lines, which is the most that a spreadsheet program keeps. Rows may be missing.",
                rows
            ));
        }
    }

    /// Notes headings that are equal but for case and spaces, and values without a heading.
    fn note_headings(&self, notes: &mut Vec<Text>) {
        if self.plan.header.has_periods {
            notes.push(text!(
                "The numbers in line {line} are headings, because they are years or months in order.",
                line = self.plan.header.line
            ));
        }
        let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, heading) in self.plan.header.headings.iter().enumerate() {
            let words: Vec<&str> = heading.split_whitespace().collect();
            if !words.is_empty() {
                same.entry(words.join(" ").to_lowercase()).or_default().push(at);
            } else if self.findings.columns[at].filled > 0 {
                notes.push(text!(
                    "Column {number} has values, but no heading. It is called {column}.",
                    number = at + 1,
                    column = self.plan.columns[at].name.clone()
                ));
            }
        }
        for columns in same.values().filter(|columns| columns.len() > 1) {
            let numbers: Vec<String> = columns.iter().map(|at| (at + 1).to_string()).collect();
            let names: Vec<&str> =
                columns.iter().map(|at| self.plan.columns[*at].name.as_str()).collect();
            notes.push(text!(
                "The columns {numbers} have the same heading. They are called {names}.",
                numbers = numbers.join(", "),
                names = names.join(", ")
            ));
        }
    }

    /// Notes numbers that are days, moments, years or identifiers, and are not added up.
    fn note_counting(&self, at: usize, notes: &mut Vec<Text>) {
        let (plan_column, stats) = (&self.plan.columns[at], &self.findings.columns[at]);
        let column = plan_column.name.clone();
        let sample = stats.samples.first().cloned().unwrap_or_default();
        match self.decided[at].kept_out {
            Some(KeptOut::Years) => notes.push(text!(
                "The numbers in {column} are years, such as {sample}. They are not added up.",
                column = column.clone(),
                sample = sample.clone()
            )),
            Some(KeptOut::Months) => notes.push(text!(
                "The numbers in {column} are months, such as {sample}. They are not added up.",
                column = column.clone(),
                sample = sample.clone()
            )),
            Some(KeptOut::Times) => notes.push(text!(
                "The numbers in {column} are no days that can be read, such as {sample}. They are not added up.",
                column = column.clone(),
                sample = sample.clone()
            )),
            Some(KeptOut::Rising) => notes.push(text!(
                "The numbers in {column} only rise, like identifiers or running totals. They are not added up. If they are amounts or counts, say so.",
                column = column.clone()
            )),
            None => {}
        }
        let (Some(counting), Some(day)) = (plan_column.counting, stats.days.set.days().next())
        else {
            return;
        };
        let day = day.to_string();
        notes.push(match counting {
            Counting::SheetDays => text!(
                "The numbers in {column} were read as the days of a spreadsheet, such as {sample}. The first day is {day}.",
                column,
                sample,
                day
            ),
            Counting::Digits | Counting::JulianDays => text!(
                "The numbers in {column} were read as days, such as {sample}. The first day is {day}.",
                column,
                sample,
                day
            ),
            _ => text!(
                "The numbers in {column} were read as moments since 1970, with {units} units in a second, such as {sample}. The first day is {day}.",
                column,
                units = counting.per_second(),
                sample,
                day
            ),
        });
    }

    fn note_columns(&self, notes: &mut Vec<Text>) {
        for (at, column) in self.plan.columns.iter().enumerate() {
            let stats = &self.findings.columns[at];
            let name = column.name.clone();
            self.note_counting(at, notes);
            if column.reading == Reading::Text
                && column.spoiled.is_none()
                && !column.is_fixed
                && words::is_measure(&column.heading)
                && let Some(sample) = stats.samples.first()
            {
                notes.push(text!(
                    "{column} is text, because cells such as \"{sample}\" are no numbers.",
                    column = name.clone(),
                    sample = sample.clone()
                ));
            }
            if let Some((line, sample)) = &column.spoiled {
                notes.push(text!(
                    "{column} is text, because of \"{sample}\" in line {line}.",
                    column = name.clone(),
                    sample = sample.clone(),
                    line = *line
                ));
            }
            if stats.ids.are_rounded() && column.choice.usage.is_none() {
                let (line, sample) = stats.ids.first.clone().unwrap_or_default();
                notes.push(text!(
                    "A spreadsheet rounded the identifiers in {column}, such as {sample} in line {line}: one can stand for several. They are not used as keys. Export them as text.",
                    column = name.clone(),
                    sample,
                    line
                ));
            }
            if let Some(shared) = stats.ids.shared.clone().filter(|_| !stats.ids.are_rounded()) {
                notes.push(text!(
                    "The identifier {id} in {column} has two names on {day}: {first} and {second}, line {line}. One can stand for several, so that they are not used as keys. To use them nevertheless, set the column to id.",
                    id = shared.id,
                    column = name.clone(),
                    day = shared.day.to_string(),
                    first = shared.first,
                    second = shared.second,
                    line = shared.line
                ));
            }
            if stats.numbers.rounded > 0 {
                notes.push(text!(
                    "{count} numbers in {column} have more than 18 decimals. The others were dropped.",
                    count = stats.numbers.rounded,
                    column = name
                ));
            }
        }
        let has_sums = self.plan.columns.iter().any(|column| words::is_delivery(&column.heading));
        if self.plan.time.is_none() && has_sums {
            notes.push(text!(
                "The file has no day, so that figures of a period cannot be asked for. In the platform, add the segment Day, and export again."
            ));
        }
    }

    fn note_numbers(&self, notes: &mut Vec<Text>) {
        let open =
            (0..self.plan.columns.len()).find(|at| self.findings.columns[*at].numbers.has_open());
        for (column, stats) in self.plan.columns.iter().zip(&self.findings.columns) {
            let is_mixed = stats.numbers.points > 0 && stats.numbers.commas > 0;
            if is_mixed && matches!(column.reading, Reading::Number { .. }) {
                notes.push(text!(
                    "Some numbers in {column} have a point before decimals, and others a comma. Each was read by its own sign.",
                    column = column.name.clone()
                ));
            }
        }
        let Some(at) = open else { return };
        let (column, numbers) = (&self.plan.columns[at], &self.findings.columns[at].numbers);
        let Reading::Number { sign, .. } = column.reading else { return };
        if numbers.shown_sign() == Some(sign)
            || file_sign(self.plan, self.findings).is_none() && self.decisions.decimal.is_none()
        {
            return;
        }
        let (line, sample) = numbers.open.clone().unwrap_or_default();
        let column = column.name.clone();
        notes.push(match sign {
            NumberSign::Point => text!(
                "Numbers such as {sample} in {column} in line {line} were read with a point before decimals.",
                sample, column, line
            ),
            NumberSign::Comma => text!(
                "Numbers such as {sample} in {column} in line {line} were read with a comma before decimals.",
                sample, column, line
            ),
        });
    }

    /// Notes numbers whose digits a spreadsheet can have cut. Numbers of other formats have all
    /// digits, also with an exponent.
    fn note_exponents(&self, notes: &mut Vec<Text>) {
        if !matches!(self.source, Source::Text { origin: None, .. }) {
            return;
        }
        let columns = self.plan.columns.iter().zip(&self.findings.columns);
        let found = columns.filter(|(column, stats)| {
            matches!(column.reading, Reading::Number { .. }) && stats.numbers.exponents > 0
        });
        let (mut count, mut first) = (0, None);
        for (column, stats) in found {
            count += stats.numbers.exponents;
            first = first.or_else(|| Some((column.name.clone(), stats.numbers.exponent.clone()?)));
        }
        let Some((column, (line, sample))) = first else { return };
        notes.push(text!(
            "Numbers with an exponent: {count}, such as {sample} in {column} in line {line}. A spreadsheet can drop digits of long numbers that it writes like this. Export them in full if digits are missing.",
            count,
            sample,
            column,
            line
        ));
    }

    fn note_money(&self, notes: &mut Vec<Text>) {
        for (slot, at) in self.plan.currencies.iter().enumerate() {
            let samples = &self.findings.columns[*at].samples;
            let code_of = |text: &str| Some(self.stated.meant(Currency::from_name(text)?).code());
            let mut renamed = samples.iter().filter_map(|text| Some((text, code_of(text)?)));
            if let Some((sample, code)) = renamed.find(|(text, code)| text != code) {
                notes.push(text!(
                    "The currencies in {column} are stored as codes: {sample} as {currency}.",
                    column = self.plan.columns[*at].name.clone(),
                    sample = sample.clone(),
                    currency = code.to_owned()
                ));
            }
            let count = self.findings.without_currency[slot];
            if let ([(only, _)], true) = (self.findings.currencies[slot].as_slice(), count > 0) {
                notes.push(text!(
                    "{count} amounts have no currency in {column}. They count as {currency}, like the others.",
                    count,
                    column = self.plan.columns[*at].name.clone(),
                    currency = only.code().to_owned()
                ));
            }
        }
        for (at, decided) in self.decided.iter().enumerate() {
            let column = self.plan.columns[at].name.clone();
            if decided.is_scaled {
                notes.push(text!(
                    "The amounts in {column} are in thousands, millions or cents, as the heading says. They are stored as they are written, without a currency.",
                    column = column.clone()
                ));
            }
            if decided.is_mixed {
                let seen = self.findings.columns[at].numbers.currencies.iter();
                let mut currencies: Vec<&str> =
                    seen.map(|seen| self.stated.meant(seen.currency).code()).collect();
                currencies.dedup();
                notes.push(text!(
                    "The amounts in {column} have several currencies: {currencies}. They are kept apart.",
                    column = column.clone(),
                    currencies = currencies.join(", ")
                ));
            }
            let numbers = &self.findings.columns[at].numbers;
            if let [seen] = numbers.currencies.as_slice() {
                let only = self.stated.meant(seen.currency);
                let is_guess =
                    seen.currency.is_shared() && self.stated.of_sign(seen.currency).is_none();
                let is_stated = self.plan.columns[at].currency_slot.is_some();
                if is_guess && !is_stated && decided.currency == Some(only) {
                    notes.push(text!(
                        "The sign of the currency in {column} can stand for several. It was read as {currency}.",
                        column = column.clone(),
                        currency = only.code().to_owned()
                    ));
                }
                if numbers.bare > 0 {
                    notes.push(text!(
                        "{count} amounts in {column} have no sign of a currency. They count as {currency}, like the others.",
                        count = numbers.bare,
                        column,
                        currency = only.code().to_owned()
                    ));
                }
            }
        }
    }

    fn note_rows(&self, notes: &mut Vec<Text>) {
        if self.findings.skipped_hashes {
            notes.push(text!("Equal lines were searched for in the first 20 million rows only."));
        }
        if self.findings.skipped_sums {
            notes.push(text!(
                "The file has {rows} rows, which are too many to test each for being the sum of others. Some have no day or no name, as subtotals have: they would be counted twice.",
                rows = Amount::new(&self.findings.stored.to_string(), 0, None)
            ));
        }
        let hidden = self.findings.hidden.count;
        if hidden > 0 && self.decisions.answers.contains_key("hidden_rows") {
            notes.push(text!(
                "Hidden rows of the sheet are stored, as decided: {rows}.",
                rows = hidden
            ));
        }
        if self.duplicates.rows > 0 && !is_pasted_twice(self.duplicates) {
            let (line, sample) = self.duplicate_lines.first().cloned().unwrap_or_default();
            notes.push(text!(
                "Lines that are equal to earlier ones are stored: {rows}, the first in line {line}: {sample}.",
                rows = self.duplicates.rows,
                line,
                sample
            ));
        }
        for found in self.subtotals.iter().filter(|found| found.is_named && found.is_sum) {
            notes.push(text!(
                "Rows with \"{name}\" in {column} are the sums of the other rows and are not stored: {rows}.",
                rows = found.rows,
                name = found.name.clone(),
                column = self.plan.columns[found.column].name.clone()
            ));
        }
        let shows =
            self.decisions.answers.get("duplicate_rows").is_some_and(|answer| answer == "keep");
        if shows && is_pasted_twice(self.duplicates) {
            notes.push(text!(
                "Lines that are equal to earlier ones are stored, as decided: {rows}.",
                rows = self.duplicates.rows
            ));
        }
    }
}
