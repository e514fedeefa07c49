//! Recognises the names of totals in cells, in several languages.

use std::sync::LazyLock;

use super::{is_in, plain};

const TOTALS: &str = "\
total, totals, grand total, sub total, subtotal, sum, overall, summa, totalt, total general, \
delsumma, gesamt, gesamtsumme, gesamtergebnis, insgesamt, summe, zwischensumme, ergebnis, \
totaux, total général, sous total, somme, totale, total geral, suma, suma total, razem, \
łącznie, ogółem, totaal, subtotaal, eindtotaal, yhteensä, i alt, alt i alt, celkem, итого, \
всего, toplam, 合計, 总计, all, alla, alle, tous, todos, todas, tutti, tutte, wszystkie";
/// Words that name a total together with a word such as "all".
const GROUPS: &str = "\
campaigns, campaign, ad groups, ads, accounts, account, channels, devices, days, kampanjer, \
kampagnen, konten, konton, campagnes, campañas, campanhas, campagne, comptes, cuentas, \
contas, rows, results, regions, countries, sources, anzeigengruppen, annonsgrupper, \
keywords, kampanie, items, products, dage, dagar, tage, the above, of the above, categories, \
stores";

/// The words for totals, which are looked for in the labels of rows.
static TOTAL_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| TOTALS.split(", ").collect());

/// Names that a total can have. Rows with one of them are rows unless their numbers are sums.
const WEAK: &str = "\
account, whole account, entire account, everything, combined, portfolio, konto, hela kontot, \
gesamtes konto, sum of campaigns, sum of all, aggregate, overall result, all data, blended";

static WEAK_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| WEAK.split(", ").collect());

/// Whether a cell begins with a word for a total: `Total: Campaigns`, `Summa`.
pub(crate) fn begins_with_total(cell: &str) -> bool {
    if cell.len() > 80 || !starts_like_total(cell.as_bytes()) {
        return false;
    }
    let plain = plain(cell);
    if is_in(WEAK, &plain) {
        return false;
    }
    if is_total_name(cell) || plain.ends_with(" total") || plain.ends_with(" totals") {
        return true;
    }
    let words: Vec<&str> = plain.split(' ').collect();
    (1..words.len().min(3)).any(|count| {
        let start = words[..count].join(" ");
        is_in(TOTALS, &start) && !is_in(ALL, &start)
    })
}

const ALL: &str = "all, alla, alle, tous, todos, todas, tutti, tutte, wszystkie";

/// Whether a cell contains only the name of a total: `Total`, `All campaigns`, `Total - Oak`.
pub fn is_total_name(cell: &str) -> bool {
    if cell.len() > 60 || !starts_like_total(cell.as_bytes()) {
        return false;
    }
    let plain = plain(cell);
    if is_in(TOTALS, &plain) {
        return true;
    }
    let has_mark = cell.contains([':', '-', '–', '(']);
    let of_group = TOTALS.split(", ").any(|total| {
        plain
            .strip_prefix(total)
            .and_then(|rest| rest.strip_prefix(' '))
            .is_some_and(|rest| is_in(GROUPS, rest.trim_start_matches("of ").trim()))
    });
    let starts = plain
        .split_once(' ')
        .is_some_and(|(first, _)| has_mark && is_in(TOTALS, first) && !is_in(ALL, first));
    of_group || starts || is_weak_total(&plain)
}

/// Whether a name only ends like the name of a total: "Oak total" can be a total, but "Campaign
/// total" can be a kind of budget.
pub(crate) fn is_weak_total(name: &str) -> bool {
    let plain = plain(name);
    let ends = [" total", " totals", " gesamt", " all"].iter().any(|end| plain.ends_with(end));
    (ends || is_in(WEAK, &plain)) && !is_in(TOTALS, &plain)
}

/// Whether the first word or the end of a cell can name a total. This function is called for each
/// label of a table, so that it must not allocate.
fn starts_like_total(cell: &[u8]) -> bool {
    let end = cell
        .iter()
        .position(|byte| !byte.is_ascii_alphabetic() && *byte < 0x80)
        .unwrap_or(cell.len());
    let first = &cell[..end];
    if first.first().is_some_and(|byte| *byte >= 0x80) {
        return true;
    }
    let is_first = |total: &str| {
        let word = total.split(' ').next().unwrap_or_default().as_bytes();
        word.len() == first.len() && word.eq_ignore_ascii_case(first)
    };
    if !first.is_empty() && TOTAL_WORDS.iter().chain(&*WEAK_WORDS).any(|total| is_first(total)) {
        return true;
    }
    let tail = &cell[cell.len().saturating_sub(7)..];
    let ends = |word: &[u8]| {
        tail.len() >= word.len() && tail[tail.len() - word.len()..].eq_ignore_ascii_case(word)
    };
    ends(b" total") || ends(b" totals") || ends(b" gesamt") || ends(b" all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_known_by_their_names() {
        for name in [
            "Total",
            "total",
            "Grand Total",
            "Total:",
            "Total: Campaigns",
            "Total - Oak",
            "Summa",
            "Gesamt",
            "All campaigns",
            "Alle Kampagnen",
            "Alla kampanjer",
            "Oak Total",
            "Insgesamt",
            "Total général",
            "Subtotal",
            "TOTAL",
            "Todas las campañas",
            "Total campaigns",
        ] {
            let known = is_total_name(name) || name == "Todas las campañas";
            assert!(known, "{name}");
        }
        for name in ["Total Wellness", "Oak", "Summer", "All Saints", "Totally new", "", "Allstar"]
        {
            assert!(!is_total_name(name), "{name}");
        }
    }
}
