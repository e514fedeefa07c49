//! The headings that platforms use, in English, Swedish, German, Spanish, French, Portuguese and
//! Dutch, and what they mean. The only list of them: the reader of files takes its words for counts
//! and amounts from it, and definitions get their usual names from it.

use std::sync::LazyLock;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The name of an account.
    Account,
    /// The id of an account.
    AccountId,
    /// The name of a campaign.
    Campaign,
    /// The id of a campaign.
    CampaignId,
    /// The name of a group of ads.
    AdGroup,
    /// The id of a group of ads.
    AdGroupId,
    /// The name of an ad.
    Ad,
    /// The id of an ad.
    AdId,
    /// A word that people search for.
    Keyword,
    /// A kind of device.
    Device,
    /// A country.
    Country,
    /// Money that was spent.
    Spend,
    /// Clicks.
    Clicks,
    /// Impressions.
    Impressions,
    /// Conversions.
    Conversions,
    /// Money that was earned.
    Revenue,
    /// Orders.
    Orders,
    /// Money that may be spent.
    Budget,
    /// People who were reached.
    Reach,
    /// Views of videos.
    Views,
}

impl Role {
    /// Returns the usual name of a dimension or measure with this meaning.
    pub fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::AccountId => "account_id",
            Self::Campaign => "campaign",
            Self::CampaignId => "campaign_id",
            Self::AdGroup => "ad_group",
            Self::AdGroupId => "ad_group_id",
            Self::Ad => "ad",
            Self::AdId => "ad_id",
            Self::Keyword => "keyword",
            Self::Device => "device",
            Self::Country => "country",
            Self::Spend => "spend",
            Self::Clicks => "clicks",
            Self::Impressions => "impressions",
            Self::Conversions => "conversions",
            Self::Revenue => "revenue",
            Self::Orders => "orders",
            Self::Budget => "budget",
            Self::Reach => "reach",
            Self::Views => "views",
        }
    }

    /// Returns the meaning of the names of the thing that this belongs to, if it is advertised: that
    /// of campaigns for their ids.
    pub fn advertised_thing(self) -> Option<Self> {
        match self {
            Self::Campaign | Self::CampaignId => Some(Self::Campaign),
            Self::AdGroup | Self::AdGroupId => Some(Self::AdGroup),
            Self::Ad | Self::AdId => Some(Self::Ad),
            _ => None,
        }
    }

    /// Whether the values are amounts.
    pub fn is_money(self) -> bool {
        matches!(self, Self::Spend | Self::Revenue | Self::Budget)
    }

    /// Returns the meaning of the column that has the ids of these names.
    pub fn id(self) -> Option<Self> {
        match self {
            Self::Account => Some(Self::AccountId),
            Self::Campaign => Some(Self::CampaignId),
            Self::AdGroup => Some(Self::AdGroupId),
            Self::Ad => Some(Self::AdId),
            _ => None,
        }
    }
}

const WORDS: [(Role, &str); 20] = [
    (
        Role::Account,
        "account|account name|konto|kontonamn|kontoname|cuenta|nombre de la cuenta|compte|nom du compte|conta|nome da conta|accountnaam|advertiser",
    ),
    (
        Role::AccountId,
        "account id|customer id|konto id|kontonummer|id de cuenta|id de la cuenta|identifiant du compte|id da conta|account-id|klantnummer|advertiser id",
    ),
    (
        Role::Campaign,
        "campaign|campaign name|kampanj|kampanjnamn|kampanje|kampanjenavn|kampagne|kampagnenname|campaña|nombre de la campaña|campagne|nom de la campagne|campanha|nome da campanha|campagnenaam",
    ),
    (
        Role::CampaignId,
        "campaign id|kampanj id|kampanje id|kampagnen id|kampagne id|id de la campaña|id de campaña|id de la campagne|identifiant de campagne|identifiant de la campagne|id da campanha|campagne id",
    ),
    (
        Role::AdGroup,
        "ad group|ad group name|ad set|ad set name|annonsgrupp|anzeigengruppe|anzeigengruppenname|anzeigengruppe name|grupo de anuncios|conjunto de anuncios|groupe d'annonces|ensemble de publicités|grupo de anúncios|conjunto de anúncios|advertentiegroep",
    ),
    (
        Role::AdGroupId,
        "ad group id|ad set id|annonsgrupps id|annonsgrupp id|anzeigengruppen id|id del grupo de anuncios|id du groupe d'annonces|id do grupo de anúncios|advertentiegroep id",
    ),
    (
        Role::Ad,
        "ad|ad name|annons|annonsnamn|anzeige|anzeigenname|anuncio|annonce|anúncio|advertentie",
    ),
    (
        Role::AdId,
        "ad id|annons id|anzeigen id|id del anuncio|id de l'annonce|id do anúncio|advertentie id",
    ),
    (
        Role::Keyword,
        "keyword|search keyword|sökord|suchbegriff|keyword text|palabra clave|mot clé|mot-clé|palavra-chave|palavra chave|zoekwoord",
    ),
    (
        Role::Device,
        "device|device type|enhet|enhetstyp|gerät|gerätetyp|dispositivo|appareil|apparaat",
    ),
    (Role::Country, "country|country code|land|país|pays"),
    (
        Role::Spend,
        "spend|cost|amount spent|total spent|total cost|spent|kostnad|insats|spenderat belopp|kosten|ausgaben|ausgegebener betrag|coste|costo|gasto|importe gastado|coût|dépenses|montant dépensé|custo|valor gasto|investimento|uitgaven|besteed bedrag|media cost",
    ),
    (
        Role::Clicks,
        "clicks|link clicks|clicks all|klick|klickar|klicks|clics|clics en el enlace|cliques|klikken|kliks",
    ),
    (
        Role::Impressions,
        "impressions|impr|impr.|visningar|exponeringar|impressionen|impresiones|impressões|vertoningen|weergaven",
    ),
    (
        Role::Conversions,
        "conversions|all conv.|conv.|konverteringar|konvertering|konversionen|conversiones|conversões|conversies|results|purchases",
    ),
    (
        Role::Revenue,
        "revenue|conv. value|conversion value|sales|total sales|net sales|gross sales|purchase value|konverteringsvärde|intäkt|intäkter|omsättning|umsatz|conversion-wert|ingresos|valor de conversión|chiffre d'affaires|revenus|valeur de conversion|receita|valor da conversão|omzet|conversiewaarde",
    ),
    (
        Role::Orders,
        "orders|order count|beställningar|ordrar|bestellungen|pedidos|commandes|encomendas|bestellingen|transactions",
    ),
    (
        Role::Budget,
        "budget|daily budget|total budget|dagsbudget|tagesbudget|presupuesto|presupuesto diario|budget quotidien|orçamento|orçamento diário|dagbudget",
    ),
    (Role::Reach, "reach|räckvidd|reichweite|alcance|couverture|portée|bereik|unique users"),
    (
        Role::Views,
        "views|video views|visningar av video|videoaufrufe|visualizaciones|vues|visualizações|videoweergaven",
    ),
];

/// Returns the meaning of a heading, if it is a usual one.
pub fn role_of_words(heading: &str) -> Option<Role> {
    let plain = simplify(heading);
    let found = |words: &str| words.split('|').any(|word| simplify(word) == plain);
    WORDS.iter().find(|(_, words)| found(words)).map(|(role, _)| *role)
}

/// The single words of the usual headings of amounts and counts, without those of several words.
static WORDS_OF_AMOUNTS: LazyLock<Vec<(Role, String)>> = LazyLock::new(|| {
    let words =
        WORDS.iter().flat_map(|(role, words)| words.split('|').map(|word| (*role, simplify(word))));
    words.filter(|(_, word)| !word.contains([' ', '\''])).collect()
});

/// Whether a single word, in lower case, is a usual heading with one of these meanings.
pub fn is_word_of(word: &str, roles: &[Role]) -> bool {
    WORDS_OF_AMOUNTS.iter().any(|(role, known)| known == word && roles.contains(role))
}

/// Returns a heading in lower case, without units in brackets, and with spaces between words.
fn simplify(heading: &str) -> String {
    let heading = heading.split(['(', '[']).next().unwrap_or(heading);
    let spaced: String = heading
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' })
        .flat_map(char::to_lowercase)
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_seven_languages_have_the_same_meaning() {
        for heading in [
            "Cost",
            "Amount spent (EUR)",
            "Kostnad",
            "Kosten",
            "Coste",
            "Coût",
            "Custo",
            "Uitgaven",
        ] {
            assert_eq!(role_of_words(heading), Some(Role::Spend), "{heading}");
        }
        assert_eq!(role_of_words("Campaign ID"), Some(Role::CampaignId));
        assert_eq!(role_of_words("campaign_id"), Some(Role::CampaignId));
        assert_eq!(role_of_words("Notes"), None);
    }

    #[test]
    fn single_words_have_the_meaning_of_their_heading() {
        for (word, role) in [("kostnad", Role::Spend), ("omsättning", Role::Revenue)] {
            assert!(is_word_of(word, &[Role::Budget, role]), "{word}");
        }
        assert!(!is_word_of("value", &[Role::Revenue]));
        assert!(!is_word_of("klick", &[Role::Spend]));
    }
}
