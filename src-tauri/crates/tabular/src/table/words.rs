//! Recognises headings and names by the words of exports in several languages. The usual headings
//! are in `language`; here are the words that only the reader of a file needs. This module must not
//! know types and values.

mod totals;

use contract::sources::ColumnUse;
use language::headings::{Role, is_word_of, role_of_words};

pub use totals::is_total_name;
pub(crate) use totals::{begins_with_total, is_weak_total};

/// Normalises a heading: lower case, words joined by one space, without brackets and signs.
pub(crate) fn plain(heading: &str) -> String {
    let spaced: String = heading
        .chars()
        .flat_map(|c| {
            let sign = match c {
                '%' => Some(" % "),
                '/' => Some(" / "),
                _ => None,
            };
            let c = if c.is_alphanumeric() { c } else { ' ' };
            sign.map_or_else(|| c.to_string(), str::to_owned).chars().collect::<Vec<_>>()
        })
        .collect();
    spaced.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

const TIME: &str = "\
day, date, datum, dag, tag, jour, fecha, dia, día, data, giorno, dzień, dato, päivä, \
päivämäärä, timestamp, datetime, time, dagur, дата, день, gün, tarih, 日付, 日期, when, created, \
ordered, day date, created at, order date, purchase date, transaction date, posting date, event \
date, event time, date created, createdat";
const TIME_WORDS: &str = "\
date, datum, day, fecha, timestamp, datetime, created, dato, dag, jour, tag, starts, ends, \
start, end, début, fin, beginn, ende, von, bis, inicio, slut";
const STARTS: &str = "\
reporting starts, start date, start, starts, date start, from, period start, week start, \
startdatum, start datum, beginn, von, från, début, date de début, inicio, fecha de inicio, \
início, inizio, date from, first day, start day, rapportering startar, rapporteringsstart, \
berichtsstart, beginn des berichts, début des rapports, inicio del informe, início dos \
relatórios, startdato, von datum";
const ENDS: &str = "\
reporting ends, end date, end, ends, date stop, date end, to, until, period end, week end, \
slutdatum, enddatum, end datum, ende, bis, till, fin, date de fin, fecha de fin, fim, fine, \
date to, last day, end day, rapportering slutar, rapporteringsslut, berichtsende, ende des \
berichts, fin des rapports, fin del informe, término dos relatórios, slutdato, bis datum, \
stop";
const CURRENCY: &str = "\
currency, currency code, currencycode, account currency, account currency code, billing \
currency, customer currency, valuta, valutakod, valuta kod, währung, waehrung, währungscode, \
devise, code de devise, code devise, moneda, moeda, código de moneda, código da moeda, \
codice valuta, valutacode, waluta, ccy, curr, divisa";
const ACCOUNT: &str = "\
ad account, ad account name, nome account, customer name, client, client name, kund, kundnamn, \
kunde, account descriptive name, advertiser name";
/// More names of counts that add up.
const SUMS: &str = "\
imps, impressioni, wyświetlenia, click, clic, kliknięcia, conversioni, leads, installs, sessions, \
pageviews, quantity, qty, units, antal, anzahl, menge, nombre, cantidad, quantidade, items, \
visits, besök, besuche, visites, visitas, downloads, nedladdningar, signups, registrations, \
reactions, calls, opens, hits, likes, shares, comments, streams, plays, engagements, interactions";
/// More names of amounts of money.
const MONEY: &str = "\
netto, brutto, moms, mwst, vat, iva, tva, avgift, gebühr, gebühren, frais, kostnader, utgifter, \
inkomst, inkomster, income, expense, expenses, debit, credit, kredit, debet, payment, payments, \
betalning, zahlung, costs, amount, value, price, total, cout, coûts, dépense, montant, importe, gastos, valor, \
inversión, spesa, importo, koszt, wydatki, kwota, betrag, belopp, spendering, bedrag, fee, fees, \
tax, gross, net, discount, discounts, shipping, refund, refunds, profit, earnings, payout, \
subtotal, cpc, cpm, cpa, cpv, cpl, aov, bid, balance, charge, charges, preis, prix, precio, \
preço, prezzo, pris, budjet, kustannus, kulut, omkostninger, udgift, forbrug, utgift, расход, \
стоимость";
const RATIOS: &str = "\
ctr, cpc, cpm, cpa, cpv, cpl, cpi, cps, roas, acos, roi, cvr, aov, rpm, arpu, vtr, rate, avg, \
average, share, rating, temp, betyg, bewertung, temperature, temperatur, fx, växelkurs, wechselkurs, \
wisselkoers, percent, percentage, %, per, /, ratio, frequency, position, margin, score, snitt, \
genomsnitt, genomsnittlig, durchschn, durchschnittl, durchschnittliche, moyen, moyenne, moy, \
promedio, médio, média, medio, media, gemiddelde, gem, taux, tasa, taxa, andel, anteil, quote, \
frekvens, frequenz, fréquence, frecuencia, rank, portata, unique, users, visitors, is, lost, \
ecpm, ecpc, ecpi, ecpa, cpe, cpcv, cpp, cpr, répétition, frecuencia media, bounce, viewability, \
kpi, aic";
const LASTS: &str = "\
cumulative, ackumulerad, ackumulerat, kumuliert, cumulé, cumulée, acumulado, acumulada, ytd, mtd, \
qtd, budgets, balance, stock, inventory, saldo, lager, target, limit, bid, followers, \
subscribers, budżet, mål, ziel, plan, goal, bud, gebot, kontostand, bokfört saldo, saldot, \
kontosaldo, balans, solde, bestand, beholdning";
const IDS: &str = "\
id, ids, code, sku, ean, gtin, isbn, upc, asin, zip, plz, postcode, postal, phone, telefon, \
key, uuid, guid, ref, reference, number, nr, no, num, nummer, numéro, número, kod, \
postnr, postleitzahl, zipcode, msisdn, barcode, orgnr, personnummer, telephone, téléphone, teléfono, telefone, fax, identifier, kennung, identifiant, account#, invoice, order, konto, kontonummer, kontonr, radnr, clearingnr, iban, bic, row, rad, index";
/// Names of numbers by which rows are grouped.
const LABELS: &str = "\
year, month, week, hour, weekday, quarter, age, år, månad, vecka, timme, jahr, monat, woche, \
stunde, année, mois, semaine, heure, año, mes, semana, hora, ano, mês, anno, mese, \
settimana, ora, zone, region, level, size, lat, lng, lon, long, latitude, longitude, hour of day, hour of the day, day of month, month number, week number, tid, stund, nth day, day number, rank";
/// Parts of a date that begin or end a heading of numbers by which rows are grouped, such as "Fiscal
/// year".
const PARTS: &str = "\
year, month, week, hour, weekday, quarter, år, månad, vecka, timme, veckodag, jahr, monat, woche, \
stunde, wochentag, année, mois, semaine, heure, año, mes, semana, hora, ano, mês, anno, mese, \
settimana, ora, jaar, maand, uur, latitude, longitude, lat, lng, lon";
/// Things that rows are about, whose names can be numbers.
const THINGS: &str = "\
store, shop, butik, filial, branch, product, produkt, artikel, article, item, customer, kund, kunde, \
client, user, användare, employee, supplier, vendor, leverantör, lieferant, department, avdelning, \
abteilung, kostnadsställe, kostenstelle, center, category, kategori, kategorie, type, typ, status, \
class, klass, klasse, group, grupp, gruppe, segment, gender, model, modell, version, page, sida, \
seite, url, channel, kanal, city, stad, stadt, medium, source, placement, creative";
/// Words beside such a part with which a heading names amounts or counts of a period.
const PERIODS: &str = "\
last, this, previous, next, per, förra, denna, nästa, letzte, letzter, letztes, diese, dieser, \
dieses, dernier, cette, último, este, deze, vorige";
/// Names of prices of one piece, which do not add up.
const UNIT_PRICES: [&str; 12] = [
    "unit price",
    "unit cost",
    "price each",
    "styckpris",
    "enhetspris",
    "stückpreis",
    "einzelpreis",
    "prix unitaire",
    "precio unitario",
    "preço unitário",
    "prezzo unitario",
    "stuksprijs",
];
const WEEKS: &str = "\
week, weeks, woche, kalenderwoche, kw, vecka, semaine, semana, settimana, uge, uke, viikko, \
tydzień, week start, week of, week starting, week ending, week commencing, woche beginnend \
am, vecka från, iso week";
const MONTHS: &str = "\
month, months, monat, månad, mois, mes, mês, mese, måned, maand, kuukausi, miesiąc, month \
start, month of";
const QUARTERS: &str = "quarter, quartal, kvartal, trimestre, trimester, kwartaal";
/// Whether a comma-separated list of words contains a word.
fn is_in(words: &str, word: &str) -> bool {
    words.split(", ").any(|known| known == word)
}

fn has_word(plain: &str, words: &str) -> bool {
    plain.split(' ').any(|word| is_in(words, word))
}

/// The usual headings of counts.
const COUNTED: [Role; 5] =
    [Role::Clicks, Role::Impressions, Role::Conversions, Role::Orders, Role::Views];
/// The usual headings of amounts of money.
const PAID: [Role; 3] = [Role::Spend, Role::Revenue, Role::Budget];

/// Whether a word is one of usual headings with these meanings, or one of more words.
fn has_role(plain: &str, roles: &[Role], more: &str) -> bool {
    plain.split(' ').any(|word| is_word_of(word, roles)) || has_word(plain, more)
}

fn has_sums(plain: &str) -> bool {
    has_role(plain, &COUNTED, SUMS)
}

fn has_money(plain: &str) -> bool {
    has_role(plain, &PAID, MONEY)
}

fn has_lasts(plain: &str) -> bool {
    has_role(plain, &[Role::Budget], LASTS)
}

/// Whether the heading names days or moments.
pub(crate) fn is_time(heading: &str) -> bool {
    let plain = plain(heading);
    is_in(TIME, &plain)
        || has_word(&plain, TIME_WORDS)
        || plain.ends_with(" at")
        || period_of(heading).is_some()
}

/// Returns a rank of how well a heading names the day of a row. A smaller rank is better.
pub(crate) fn time_rank(heading: &str) -> usize {
    let plain = plain(heading);
    if let Some(at) = TIME.split(", ").position(|name| name == plain) {
        return at;
    }
    if is_start(heading) || is_end(heading) { 1000 } else { 100 }
}

/// Whether the heading names the first day of a period.
pub(crate) fn is_start(heading: &str) -> bool {
    let plain = plain(heading);
    is_in(STARTS, &plain) || plain.ends_with(" start") || plain.ends_with(" start date")
}

/// Whether the heading names the last day of a period.
pub(crate) fn is_end(heading: &str) -> bool {
    let plain = plain(heading);
    is_in(ENDS, &plain) || plain.ends_with(" end") || plain.ends_with(" end date")
}

/// A period that is longer than a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Week,
    Month,
    Quarter,
}

/// Returns the period that a heading names in place of a day.
pub(crate) fn period_of(heading: &str) -> Option<Period> {
    let plain = plain(heading);
    let is = |names: &str| is_in(names, &plain);
    if is(WEEKS) {
        Some(Period::Week)
    } else if is(MONTHS) {
        Some(Period::Month)
    } else if is(QUARTERS) {
        Some(Period::Quarter)
    } else {
        None
    }
}

/// Words of headings of columns with currencies.
const CURRENCY_WORDS: &str =
    "currency, valuta, währung, devise, moneda, moeda, divisa, waluta, valuutta, mena, ccy";

/// Whether the heading names currencies.
pub(crate) fn is_currency(heading: &str) -> bool {
    let plain = plain(heading);
    is_in(CURRENCY, &plain) || has_word(&plain, CURRENCY_WORDS)
}

/// Returns what the heading of a currency column names beside the currency: `revenue` in "Revenue
/// currency". Empty if it names nothing.
pub(crate) fn currency_stem(heading: &str) -> String {
    let plain = plain(heading);
    if is_in(CURRENCY, &plain) {
        return String::new();
    }
    let words = plain.split(' ').filter(|word| !is_in(CURRENCY_WORDS, word) && *word != "code");
    words.collect::<Vec<_>>().join(" ")
}

pub(crate) fn is_account(heading: &str) -> bool {
    role_of_words(heading) == Some(Role::Account) || is_in(ACCOUNT, &plain(heading))
}

/// Returns what the ids or names in a column belong to: campaigns for both "Campaign ID" and
/// "Campaign name". Returns None for things that are not advertised, such as products: several of
/// their names can share an id.
pub(crate) fn advertised_thing(heading: &str) -> Option<Role> {
    role_of_words(heading)?.advertised_thing()
}

/// Words by which headings and titles say that amounts are in thousands, millions or cents.
const SCALES: &str = "\
thousand, thousands, million, millions, billion, billions, tkr, tsek, ksek, keur, kusd, kgbp, kchf, \
teur, tusd, tdkk, tnok, mkr, msek, meur, musd, mnok, mdkk, mio, mrd, mn, tusental, tusen, miljoner, \
tausend, millionen, milliers, millones, micros, cents, öre, pence, \
centimes, céntimos, centavos, milhares, milhões, duizend, miljoen, migliaia, milioni";

/// The same as signs before which no letter stands: "Budget€" is not in thousands.
const SCALE_SIGNS: [&str; 11] =
    ["k€", "t€", "m€", "k$", "m$", "k£", "m£", "'000", "’000", "€000", "$000"];

/// Whether a heading or title says that amounts are in thousands, millions or cents.
pub(crate) fn names_scale(text: &str) -> bool {
    if text.len() > 120 {
        return false;
    }
    let lower = text.to_lowercase();
    let is_apart = |at: usize| !lower[..at].ends_with(char::is_alphanumeric);
    has_word(&plain(text), SCALES)
        || SCALE_SIGNS.iter().any(|sign| lower.match_indices(sign).any(|(at, _)| is_apart(at)))
}

/// Whether the heading names amounts of money.
pub(crate) fn is_money(heading: &str) -> bool {
    let plain = plain(heading);
    has_money(&plain) && !has_word(&plain, "roas, acos, roi, %")
}

/// Whether the heading names identifiers.
pub(crate) fn is_id(heading: &str) -> bool {
    let plain = plain(heading);
    let camel = heading.ends_with("ID") || heading.ends_with("Id") || heading == "#";
    let last = plain.rsplit(' ').next().unwrap_or_default();
    camel
        || (is_in(IDS, last) && !has_money(&plain))
        || plain.starts_with("id ")
        || plain.starts_with("identifiant ")
        || last.ends_with("nummer")
        || last.ends_with("number")
        || has_word(&plain, "sku, ean, gtin, isbn, zip, postal, uuid")
}

/// Returns the use of a column of numbers by its heading. Returns None if the heading does not show
/// the use.
pub(crate) fn use_of_numbers(heading: &str) -> Option<ColumnUse> {
    let plain = plain(heading);
    if is_id(heading) || role_of_words(heading).is_some_and(is_name) {
        Some(ColumnUse::Id)
    } else if has_role(&plain, &[Role::Reach], RATIOS)
        || UNIT_PRICES.iter().any(|name| plain.contains(name))
    {
        Some(ColumnUse::Ratio)
    } else if is_in(LABELS, &plain) || names_part(&plain) {
        Some(ColumnUse::Dimension)
    } else if has_lasts(&plain) {
        Some(ColumnUse::Last)
    } else if has_sums(&plain) || has_money(&plain) {
        Some(ColumnUse::Sum)
    } else if plain.rsplit(' ').next().is_some_and(|last| is_in(THINGS, last)) {
        Some(ColumnUse::Id)
    } else {
        None
    }
}

/// Whether a usual heading names what rows are about: campaigns can have numbers for names.
fn is_name(role: Role) -> bool {
    role.advertised_thing() == Some(role)
        || matches!(role, Role::Account | Role::Keyword | Role::Device | Role::Country)
}

/// Whether a heading names a part of a date or place: "Order month", "Week (ISO)".
fn names_part(plain: &str) -> bool {
    let words: Vec<&str> = plain.split(' ').collect();
    let (first, last) = (words.first().copied(), words.last().copied());
    let is_part = |word: Option<&str>| word.is_some_and(|word| is_in(PARTS, word));
    words.len() <= 3
        && (is_part(first) || is_part(last))
        && !has_word(plain, PERIODS)
        && !has_sums(plain)
        && !has_money(plain)
        && !has_lasts(plain)
}

/// Whether the heading names what an advertising platform delivers, or a shop sells: numbers of a
/// period, unlike budgets and stocks.
pub(crate) fn is_delivery(heading: &str) -> bool {
    matches!(use_of_numbers(heading), Some(ColumnUse::Sum))
}

/// Counts that can have decimals: platforms divide a conversion among several ads.
const DIVIDED: &str = "\
conversioni, leads, quantity, qty, units, antal, anzahl, menge, nombre, cantidad, quantidade, \
interactions";

/// Whether the heading is the usual one of counts or amounts.
pub(crate) fn is_measure(heading: &str) -> bool {
    role_of_words(heading).is_some_and(|role| COUNTED.contains(&role) || PAID.contains(&role))
}

/// Words beside a currency in sentences such as "All amounts in SEK".
const AMOUNTS: &str = "\
amount, amounts, currency, prices, costs, values, figures, belopp, beloppen, priser, valuta, betrag, \
beträge, preise, währung, montant, montants, prix, devise, importe, importes, precios, moneda, valores, \
preços, moeda, bedragen, prijzen, beløb, beløp, importi, prezzi, valuta";

/// Whether a sentence is about amounts or their currency.
pub(crate) fn is_about_amounts(text: &str) -> bool {
    text.len() <= 200 && has_word(&plain(text), AMOUNTS)
}

/// Whether one heading names clicks, and another one the impressions of which they are clicks.
pub(crate) fn are_clicks_of_impressions(clicks: &str, impressions: &str) -> bool {
    role_of_words(clicks) == Some(Role::Clicks)
        && role_of_words(impressions) == Some(Role::Impressions)
}

/// English names of amounts. Other languages mostly write a comma before decimals.
const ENGLISH: &str = "\
cost, costs, spend, spent, amount, revenue, sales, value, price, total, budget, fee, fees, tax, gross, \
net, discount, discounts, shipping, refund, refunds, profit, earnings, payout, subtotal, bid, balance, \
charge, charges, income, expense, expenses, payment, payments, debit, credit";

/// Whether the heading names amounts in a language that writes a comma before decimals.
pub(crate) fn is_money_with_commas(heading: &str) -> bool {
    let plain = plain(heading);
    has_money(&plain) && !has_word(&plain, ENGLISH)
}

/// Whether the heading names a count that is always whole, such as clicks.
pub(crate) fn is_count(heading: &str) -> bool {
    let plain = plain(heading);
    use_of_numbers(heading) == Some(ColumnUse::Sum)
        && has_sums(&plain)
        && !has_money(&plain)
        && !has_role(&plain, &[Role::Conversions], DIVIDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_say_what_numbers_mean() {
        use ColumnUse::{Dimension, Id, Last, Ratio, Sum};
        for (heading, usage) in [
            ("Cost", Some(Sum)),
            ("Impr.", Some(Sum)),
            ("Amount spent (EUR)", Some(Sum)),
            ("CTR (%)", Some(Ratio)),
            ("Avg. CPC", Some(Ratio)),
            ("Cost / conv.", Some(Ratio)),
            ("Cost per result", Some(Ratio)),
            ("Budget", Some(Last)),
            ("Campaign ID", Some(Id)),
            ("campaign_id", Some(Id)),
            ("CampaignId", Some(Id)),
            ("Order number", Some(Id)),
            ("How much", None),
            ("Fiscal year", Some(Dimension)),
            ("Order month", Some(Dimension)),
            ("Latitude (store)", Some(Dimension)),
            ("Sales this year", Some(Sum)),
            ("Visits last week", Some(Sum)),
            ("Cumulative spend", Some(Last)),
            ("Unit price", Some(Ratio)),
            ("Unit sales", Some(Sum)),
            ("Postleitzahl", Some(Id)),
            ("Phone number", Some(Id)),
            ("Campaign", Some(Id)),
            ("Store", Some(Id)),
            ("Sales by store", Some(Sum)),
            ("Clicks per store", Some(Ratio)),
            ("Coût", Some(Sum)),
        ] {
            assert_eq!(use_of_numbers(heading), usage, "{heading}");
        }
    }

    #[test]
    fn headings_and_titles_say_that_amounts_are_in_thousands() {
        for text in
            ["Umsatz (Mio. €)", "Cost (k€)", "Kostnad tkr", "Amounts in thousands", "Net '000"]
        {
            assert!(names_scale(text), "{text}");
        }
        for text in ["Budget€", "Cost (EUR)", "Air Miles", "Amount", "Cost (€)"] {
            assert!(!names_scale(text), "{text}");
        }
    }

    #[test]
    fn the_headings_of_ids_and_of_names_belong_to_the_same_thing() {
        for (id, name) in [
            ("Campaign ID", "Campaign name"),
            ("Campaign ID", "Campaign"),
            ("Kampanj-id", "Kampanj"),
            ("Kampagnen-ID", "Kampagnenname"),
            ("Identifiant de la campagne", "Nom de la campagne"),
            ("ID de la campaña", "Nombre de la campaña"),
            ("ID da campanha", "Nome da campanha"),
            ("Campagne-ID", "Campagnenaam"),
            ("Ad set ID", "Ad set name"),
            ("ID del grupo de anuncios", "Grupo de anuncios"),
            ("Annons-id", "Annons"),
        ] {
            assert!(advertised_thing(id).is_some(), "{id}");
            assert_eq!(advertised_thing(id), advertised_thing(name), "{id}");
            assert!(is_id(id) && !is_id(name), "{id}");
        }
        for heading in
            ["Product ID", "Customer name", "Campaign type", "Name", "ID", "Ad group type"]
        {
            assert_eq!(advertised_thing(heading), None, "{heading}");
        }
        assert_ne!(advertised_thing("Ad ID"), advertised_thing("Ad set name"));
    }

    #[test]
    fn headings_name_times_and_periods() {
        for heading in ["Day", "Date", "Datum", "Order date", "created_at", "Reporting starts"] {
            assert!(is_time(heading), "{heading}");
        }
        assert!(!is_time("Campaign"));
        assert_eq!(period_of("Week"), Some(Period::Week));
        assert_eq!(period_of("Månad"), Some(Period::Month));
        assert!(time_rank("Day") < time_rank("Order date"));
        assert!(time_rank("Order date") < time_rank("Reporting starts"));
    }
}
