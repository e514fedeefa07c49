//! Currencies as cells, headings and titles write them: codes, signs and short words.

/// A currency: its code, or the sign if it stands for several currencies, such as `kr` and `$`. The
/// sign `$` is not equal to the code `USD`, because `$` beside `CA$` can mean either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Currency(&'static str);

/// The codes of ISO 4217 that are in use.
const CODES: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB \
BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR \
FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY \
KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR \
MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF \
SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS \
UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL";

/// Signs and words of one currency. Longer ones come before those that they begin with.
const SIGNS: &[(&str, &str)] = &[
    ("US$", "USD"),
    ("USD$", "USD"),
    ("CA$", "CAD"),
    ("CAD$", "CAD"),
    ("C$", "CAD"),
    ("AU$", "AUD"),
    ("A$", "AUD"),
    ("NZ$", "NZD"),
    ("HK$", "HKD"),
    ("NT$", "TWD"),
    ("S$", "SGD"),
    ("SG$", "SGD"),
    ("MX$", "MXN"),
    ("MEX$", "MXN"),
    ("R$", "BRL"),
    ("CLP$", "CLP"),
    ("COP$", "COP"),
    ("AR$", "ARS"),
    ("$U", "UYU"),
    ("US", "USD"),
    ("€", "EUR"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("eur", "EUR"),
    ("£", "GBP"),
    ("GBP£", "GBP"),
    ("CN¥", "CNY"),
    ("RMB", "CNY"),
    ("元", "CNY"),
    ("JP¥", "JPY"),
    ("円", "JPY"),
    ("₹", "INR"),
    ("Rs", "INR"),
    ("INR₹", "INR"),
    ("Rp", "IDR"),
    ("RM", "MYR"),
    ("₩", "KRW"),
    ("원", "KRW"),
    ("₽", "RUB"),
    ("руб", "RUB"),
    ("р", "RUB"),
    ("₴", "UAH"),
    ("грн", "UAH"),
    ("₺", "TRY"),
    ("TL", "TRY"),
    ("₪", "ILS"),
    ("฿", "THB"),
    ("₫", "VND"),
    ("đ", "VND"),
    ("₱", "PHP"),
    ("₦", "NGN"),
    ("₵", "GHS"),
    ("GH₵", "GHS"),
    ("KSh", "KES"),
    ("Ksh", "KES"),
    ("R", "ZAR"),
    ("zł", "PLN"),
    ("zl", "PLN"),
    ("ZŁ", "PLN"),
    ("Kč", "CZK"),
    ("kč", "CZK"),
    ("Ft", "HUF"),
    ("lei", "RON"),
    ("Lei", "RON"),
    ("лв", "BGN"),
    ("Fr", "CHF"),
    ("SFr", "CHF"),
    ("sFr", "CHF"),
    ("S/", "PEN"),
    ("₡", "CRC"),
    ("₲", "PYG"),
    ("₸", "KZT"),
    ("₼", "AZN"),
    ("₾", "GEL"),
    ("֏", "AMD"),
];

/// Signs that several currencies share: how they are written, the sign itself, and the currencies. They
/// are read as the one that a person or the file says, or as the usual one.
const SHARED: &[(&str, &str, &[&str])] = &[
    (
        "$",
        "$",
        &[
            "USD", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD", "MXN", "CLP", "COP", "ARS", "UYU",
            "BRL", "DOP", "JMD", "TTD", "BBD", "BSD", "BZD", "FJD", "NAD", "XCD", "LRD", "GYD",
            "SRD",
        ],
    ),
    ("¥", "¥", &["JPY", "CNY"]),
    ("￥", "¥", &["JPY", "CNY"]),
    ("kr", "kr", &["SEK", "NOK", "DKK", "ISK"]),
    ("Kr", "kr", &["SEK", "NOK", "DKK", "ISK"]),
    ("KR", "kr", &["SEK", "NOK", "DKK", "ISK"]),
    ("din", "RSD", &[]),
];

/// The currency that a shared sign stands for if nothing says otherwise. `kr` has none.
const USUAL: &[(&str, &str)] = &[("$", "USD"), ("¥", "JPY")];

/// Names of currencies in cells of a currency column.
const NAMES: &[(&str, &str)] = &[
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("us dollar", "USD"),
    ("us dollars", "USD"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("pound", "GBP"),
    ("pounds", "GBP"),
    ("pound sterling", "GBP"),
    ("british pound", "GBP"),
    ("yen", "JPY"),
    ("japanese yen", "JPY"),
    ("swedish krona", "SEK"),
    ("svenska kronor", "SEK"),
    ("norwegian krone", "NOK"),
    ("danish krone", "DKK"),
    ("swiss franc", "CHF"),
];

/// Currencies whose amounts are written without decimals.
const WHOLE: &[&str] = &[
    "JPY", "KRW", "VND", "CLP", "ISK", "PYG", "UGX", "XAF", "XOF", "XPF", "RWF", "BIF", "DJF",
    "GNF", "KMF", "VUV", "IDR",
];

/// Whether a cell is a dash beside a currency, as formats for accounts write zero: `$ -`, `- kr`.
pub(crate) fn is_dash(cell: &[u8]) -> bool {
    const MAX_BYTES: usize = 32;
    let text = std::str::from_utf8(cell).unwrap_or_default();
    let rest = text.trim_matches(['-', '–', '—']);
    cell.len() <= MAX_BYTES && rest.len() < text.len() && Currency::from_sign(rest).is_some()
}

impl Currency {
    /// Returns the currency with this code of three capital letters, if there is one.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        let code = code.trim();
        if code.len() != 3 {
            return None;
        }
        CODES.split(' ').find(|known| *known == code).map(Self)
    }

    /// Returns the currency of a sign, word or code beside an amount.
    pub(crate) fn from_sign(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('.');
        if let Some((_, code, _)) = SHARED.iter().find(|(sign, ..)| *sign == text) {
            return Some(Self(code));
        }
        if let Some((_, code)) = SIGNS.iter().find(|(sign, _)| *sign == text) {
            return Some(Self(code));
        }
        Self::from_code(text)
    }

    /// Returns the currency of any text that names one, such as a cell of a currency column.
    pub(crate) fn from_name(text: &str) -> Option<Self> {
        let lower = text.trim().to_lowercase();
        let named = NAMES.iter().find(|(name, _)| *name == lower).map(|(_, code)| Self(code));
        Self::from_sign(text).or(named).or_else(|| Self::from_code(&lower.to_ascii_uppercase()))
    }

    /// Returns the code. A shared sign has the code of its usual currency.
    pub(crate) fn code(self) -> &'static str {
        USUAL.iter().find(|(sign, _)| *sign == self.0).map_or(self.0, |(_, code)| code)
    }

    /// Returns the sign that several currencies share, or the code.
    pub(crate) fn sign(self) -> &'static str {
        self.0
    }

    /// Returns the currency, or the usual one of a shared sign.
    pub(crate) fn usual(self) -> Self {
        Self(self.code())
    }

    /// Whether amounts have no decimals.
    pub(crate) fn is_whole(self) -> bool {
        WHOLE.contains(&self.code())
    }

    /// Whether this sign can stand for the other currency, or is the same.
    pub(crate) fn can_stand_for(self, other: Self) -> bool {
        self == other
            || SHARED.iter().any(|(_, sign, all)| *sign == self.0 && all.contains(&other.0))
    }

    /// Whether both can be the same currency.
    pub(crate) fn agrees_with(self, other: Self) -> bool {
        self.can_stand_for(other) || other.can_stand_for(self)
    }

    /// Whether the sign stands for several currencies.
    pub(crate) fn is_shared(self) -> bool {
        SHARED.iter().any(|(_, sign, all)| *sign == self.0 && !all.is_empty())
    }
}

/// Codes that are one in brackets, even in small letters. Others are words, such as "all" and "top".
const LOWER: [&str; 12] =
    ["eur", "usd", "gbp", "sek", "nok", "dkk", "chf", "pln", "czk", "aud", "jpy", "inr"];

/// Returns the currency that a heading states: `Amount spent (SEK)`, `Cost EUR`, `spend_usd`,
/// `Kosten in €`.
pub(crate) fn find_in_heading(heading: &str) -> Option<Currency> {
    let words = heading
        .split(|c: char| {
            c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | '_' | '/' | ',' | ':' | '-')
        })
        .filter(|word| !word.is_empty());
    let mut found = None;
    // In capital letters, these are words and no currencies.
    let is_word =
        |word: &str| matches!(word, "ALL" | "TOP") && !heading.chars().any(char::is_lowercase);
    for word in words.filter(|word| !is_word(word)) {
        let is_code = word.len() == 3 && word.bytes().all(|b| b.is_ascii_uppercase());
        let is_last_lower = word.len() == 3
            && (heading.ends_with(&format!("_{word}"))
                || LOWER.contains(&word) && heading.contains(&format!("({word})")));
        let is_sign = word.chars().all(|c| !c.is_alphanumeric() && c != '%' && c != '#')
            || matches!(word, "kr" | "zł" | "Kč" | "R$");
        if is_code {
            found = Currency::from_code(word).or(found);
        } else if is_last_lower {
            found = Currency::from_code(&word.to_ascii_uppercase()).or(found);
        } else if is_sign {
            found = found.or_else(|| Currency::from_sign(word));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<String> {
        Currency::from_sign(text).map(|currency| currency.code().to_owned())
    }

    #[test]
    fn signs_words_and_codes_are_currencies() {
        for (sign, currency) in [
            ("€", "EUR"),
            ("R$", "BRL"),
            ("Rp", "IDR"),
            ("Rs.", "INR"),
            ("RM", "MYR"),
            ("kr.", "kr"),
            ("$", "USD"),
            ("A$", "AUD"),
            ("CHF", "CHF"),
            ("zł", "PLN"),
            ("R", "ZAR"),
        ] {
            assert_eq!(code(sign).as_deref(), Some(currency), "{sign}");
        }
        for text in ["PCS", "x", "ABC", "clicks", ""] {
            assert_eq!(code(text), None, "{text}");
        }
    }

    #[test]
    fn a_dash_beside_a_currency_is_no_amount() {
        for text in ["$-", "$ -", "- kr", "-   kr", "SEK –", "€\u{a0}—"] {
            assert!(is_dash(text.as_bytes()), "{text}");
        }
        for text in ["-", "$", "$ - 5", "x -", "", "-5"] {
            assert!(!is_dash(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_shared_sign_is_not_one_of_its_currencies() {
        let of = |text: &str| Currency::from_sign(text).unwrap();
        assert_ne!(of("$"), of("US$"));
        assert_eq!(of("$").usual(), of("US$"));
        assert!(of("$").can_stand_for(of("CA$")) && !of("US$").can_stand_for(of("CA$")));
        assert!(of("CA$").agrees_with(of("$")) && !of("SEK").agrees_with(of("$")));
        assert!(of("kr").can_stand_for(of("SEK")) && of("kr").is_shared());
        assert!(!of("US$").is_shared() && !of("€").is_shared());
    }

    #[test]
    fn a_heading_states_a_currency_by_a_code_or_a_sign() {
        for (heading, currency) in [
            ("Amount spent (SEK)", Some("SEK")),
            ("Cost USD", Some("USD")),
            ("spend_usd", Some("USD")),
            ("cost (eur)", Some("EUR")),
            ("Clicks (all)", None),
            ("CLICKS (ALL)", None),
            ("Cost (ALL)", Some("ALL")),
            ("Kosten in €", Some("EUR")),
            ("Kostnad (kr)", Some("kr")),
            ("Cost", None),
            ("CTR (%)", None),
            ("All", None),
            ("Top", None),
            ("Cost # 1", None),
        ] {
            let found = find_in_heading(heading).map(|found| found.code().to_owned());
            assert_eq!(found.as_deref(), currency, "{heading}");
        }
    }
}
