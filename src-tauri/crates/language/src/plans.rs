//! The headings of plans and budgets, in the languages of `headings`: first and last days, amounts of
//! a day, planned amounts, and months.

const FIRST: &str = "start starts started begin begins beginning beginn anfang from first von ab \
startdatum starttag startdag inicio início début debut från fra inizio van ingång";
const LAST: &str = "end ends ended until through last finish bis ende enddatum endtag slut slutdag \
slutdatum till fin final fim fine einde tot stop";
const DAILY: &str = "daily|per day|a day|dagsbudget|tagesbudget|dagbudget|budget/day|diario|diário|\
diaria|diária|quotidien|journalier|pro tag|per dag|täglich|daglig|dagelijks|par jour|por día|por dia";
const PLANNED: &str = "budget budgets plan planned target mål ziel soll presupuesto orçamento \
presupuestado planerad geplant";

/// Whether a heading names the first day of a row.
pub fn is_first_day(heading: &str) -> bool {
    has_word(heading, FIRST)
}

/// Whether a heading names the last day of a row.
pub fn is_last_day(heading: &str) -> bool {
    has_word(heading, LAST)
}

/// Whether a heading names amounts that are planned.
pub fn is_planned(heading: &str) -> bool {
    has_word(heading, PLANNED)
}

/// Whether a heading names amounts of one day.
pub fn is_daily(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    DAILY.split('|').any(|word| heading.contains(word))
}

fn has_word(heading: &str, words: &str) -> bool {
    let heading = heading.to_lowercase();
    let mut parts = heading.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.any(|part| words.split_whitespace().any(|word| word == part))
}

/// Returns the month that a heading names with its year, such as `Nov 2026` or `2026-11`.
pub fn month_of(heading: &str) -> Option<String> {
    let lower = heading.trim().to_lowercase();
    let parts: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let (year, month) = match parts.as_slice() {
        [a, b] => match (year_of(a), month_number(b), year_of(b), month_number(a)) {
            (Some(year), Some(month), _, _) if a.len() == 4 => (year, month),
            // Two numbers of two digits may be anything.
            (_, _, Some(year), Some(month)) if b.len() == 4 || a.parse::<u32>().is_err() => {
                (year, month)
            }
            _ => return None,
        },
        // A day that a spreadsheet made of a month.
        [a, b, "01" | "1"] if a.len() == 4 => (year_of(a)?, month_number(b)?),
        _ => return None,
    };
    Some(format!("{year:04}-{month:02}"))
}

fn year_of(part: &str) -> Option<u32> {
    let year: u32 = part.parse().ok()?;
    match part.len() {
        4 if (1990..2100).contains(&year) => Some(year),
        2 if year >= 13 => Some(2000 + year),
        _ => None,
    }
}

fn month_number(part: &str) -> Option<u32> {
    if let Ok(number) = part.parse::<u32>() {
        return (1..=12).contains(&number).then_some(number);
    }
    let found = MONTHS.iter().zip(1..).find(|(names, _)| names.split(' ').any(|name| name == part));
    found.map(|(_, number)| number)
}

/// The names of the months in the languages of headings.
const MONTHS: [&str; 12] = [
    "jan january januari januar enero ene janvier janv janeiro gennaio gen",
    "feb february februari februar febrero février févr fév fevereiro fev febbraio",
    "mar march mars märz mär mrz maart mrt marzo março",
    "apr april abril abr avril avr aprile",
    "may maj mai mei mayo maio maggio mag",
    "jun june juni junio juin junho giugno giu",
    "jul july juli julio juillet juil julho luglio lug",
    "aug august augusti agosto ago août augustus",
    "sep sept september septiembre septembre setembro set settembre",
    "oct okt october oktober octubre octobre outubro out ottobre ott",
    "nov november noviembre novembre novembro",
    "dec dez december dezember diciembre dic décembre déc dezembro dicembre",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_need_a_year() {
        let found = ["2026-11", "Nov 2026", "nov-26", "November 2026", "11/2026", "2026-11-01"];
        assert!(found.iter().all(|heading| month_of(heading).as_deref() == Some("2026-11")));
        let juillet = month_of("Juillet 2026");
        assert_eq!(juillet.as_deref(), Some("2026-07"));
        for heading in ["Nov", "Cost 2026", "2026", "12-25", "Market 2026"] {
            assert_eq!(month_of(heading), None, "{heading}");
        }
    }
}
