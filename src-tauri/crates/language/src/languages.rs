//! English and Swedish: detects the language of a text and lists the small words of both. Words of
//! tools are not included.

use std::{collections::HashSet, sync::LazyLock};

use crate::tokens::fold;

/// A language in which questions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    En,
    Sv,
}

impl Language {
    /// Returns the language's tag, such as `en`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Sv => "sv",
        }
    }
}

/// Words without a meaning of their own.
const STOP: &str = "\
    a an the and or of to in on at for with without by from into as is are was were be been am do does did done have has had can could will would should \
    shall may might must i im ive id you your yours he she it its we our they their them these those this that thats there theres here me my mine us what \
    whats which who whos when where why how hows please pls plz thanks just only also too then now so some any something anything more most very really \
    actually ok okay well hey hi hello yes yeah no not dont about if but up out off over under again still yet all both each every other another one ones \
    get give let lets want need like looking got pieces piece pcs pc pairs pair couple item items thing things size sizes colour color number nr x en ett \
    den det de dem och eller av till pa med utan fran som ar var vara blir har hade kan kunde ska skulle vill ville maste bor jag du din ditt dina han hon \
    vi vart ni er mig min mitt mina oss dig vad vilken vilket vilka vem nar varfor hur snalla tack bara ocksa sa nu nagon nagot nagra mer mest mycket om \
    men upp ut igen alla bada annan annat andra fa ha ge lat behover hej ja nej inte st stycken styck par sak saker storlek strl stl farg nummer dar denna \
    detta dessa man ju val lite finns sig sin kanske ens va e ur lagg tag visa u new ny nya nytt good nice best bra fin fina fint snygg snygga kind kinds \
    sort sorts type types slags typ era ert vart da ocksa same samma wheres such sadan sadana sant great perfect awesome cool toppen perfekt \
    sure yep yeah visst absolut between mellan than wouldnt shouldnt couldnt cant wont okej okey aha jaha allt allting everything att nat nan nara dom sen oxa mej dej";

/// Words that never belong to the name of a thing.
const FILLERS: &str = "many much manga preferably ideally helst colours colors farger farg wise instead istallet stallet kostar kosta cost costing costs priced price pris";

/// Common words that look like misspelt words of the packs, and so must not be corrected.
const KNOWN: &str = "\
    send sent sending spell spelled speed rate rates race pages page prize trip train rain brain went tend lend bend sheet sheets ticket market pocket \
    racket packet bucket paint plant point print pen pens path pace paste waste taste late later lower loved loves glow boost books brook shore shirt \
    shirts short shorts shop shops share shared store stores story storm start starts state stated stone stones phone photo robot boat boats coal \
    kids kid child children chart charts graph graphs plot tjanar tjanat tjanst stol stolen stolar stolarna \
    skicka skickar skriva skriver fraga fragar svara spela spelar betyder menar tror tycker undrar";

const POLITE: &str = "\
    please pls can could would you i id want to like lets let us me just hey hi hello ok okay and then also now so snalla kan du jag vill och hej ja yes \
    da skulle garna";

const SWEDISH: &str = "\
    och hur vad jag det den inte ar som till pa av med har kan du vi min mitt mina lagg visa ta bort nar var vilken vilka varfor ligger gar forra veckan \
    manaden manad konto kontot korgen varukorgen kundvagnen tva tre fyra fem ett skor svarta svart tack hej hejsan snalla stycken ryggsack ryggsacken \
    storlek strl stl andra forsta tredje budgeten kampanjer kampanjerna idag igar sedan nej ja finns lager jamfor sok hitta letar efter behover vill om ur upp ner \
    billigare dyrare hjalp vem kostar mycket takt fas tjena tjanare halla byt gott maj helgen";

const ENGLISH: &str = "\
    the is are what whats how hows my of to and in show add put remove cart basket account this that last week month please can you do does we it they for \
    with on track pacing spend spent budget why behind ahead shoes black find search looking have compare first second third one two three thanks thank \
    hello hey yes no who which about make change set delete want need get any size cheaper since yesterday today campaigns help tell more";

/// Words whose omission changes the meaning of a question: negations, rankings, conditions and
/// comparisons. Some of them are stop words in a search.
const DECISIVE: &str = "\
    raise increase lower reduce decrease cut hoj hoja sank sanka minska oka dont arent wont didnt doesnt hasnt havent wasnt werent sort sorted sortera sorterat not except excluding without never nor neither worst best highest lowest biggest smallest largest most least fewest cheapest top bottom than versus vs \
    compared unless inte utan utom ej forutom exklusive aldrig storst storsta minst minsta bast basta samst samsta hogst hogsta lagst lagsta flest billigast billigaste dyrast dyraste popularast popularaste \
    mest varst varsta lightest heaviest warmest coldest longest shortest newest oldest fastest widest strongest thinnest thickest \
    lighter heavier warmer thinner thicker stronger lattast lattaste tyngst tyngsta varmast varmaste nyast nyaste aldst aldsta lattare tyngre varmare \
    tunnare tjockare share andel andelen jamfort changed andrats andrat bottom better worse battre samre started launched startat startade";

/// Conversational words around a question. Omitting these words does not change the question.
const SMALL_TALK: &str = "\
    ligger lagt lade many much used nothing changes currently overall exactly quickly quick briefly kindly maybe perhaps wondering wonder know tell check see think hope moment right far already \
    basically asap really info information situation way bit doing going actual actually approximately roughly about kind team guys folks \
    curious question questions answer quickly possible simply general generally honest honestly morning afternoon evening sorry btw \
    guess say saying said ask asking hear anyone someone somebody everybody tldr short summary sum \
    nuvarande hittills current present egentligen ungefar kanske veta berätta beratta kolla kika se tror hoppas lage laget snabbt kort fraga undrar just precis \
    forresten typ liksom gang gangen team kollega kollegor chef chefen";

static STOP_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.split_whitespace().collect());
static FILLER_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| FILLERS.split_whitespace().collect());
static DECISIVE_SET: LazyLock<HashSet<&str>> =
    LazyLock::new(|| DECISIVE.split_whitespace().collect());
static SMALL_TALK_SET: LazyLock<HashSet<&str>> =
    LazyLock::new(|| SMALL_TALK.split_whitespace().collect());
static POLITE_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| POLITE.split_whitespace().collect());
static SWEDISH_SET: LazyLock<HashSet<&str>> =
    LazyLock::new(|| SWEDISH.split_whitespace().collect());
static ENGLISH_SET: LazyLock<HashSet<&str>> =
    LazyLock::new(|| ENGLISH.split_whitespace().collect());

/// Whether a word carries no meaning of its own.
pub fn is_stop_word(word: &str) -> bool {
    STOP_SET.contains(word)
}

/// Whether a word never belongs to the name of a thing.
pub fn is_filler(word: &str) -> bool {
    is_stop_word(word) || FILLER_SET.contains(word)
}

/// Whether omitting this word changes the meaning of a question.
pub fn is_decisive(word: &str) -> bool {
    DECISIVE_SET.contains(word)
}

/// Whether a word is conversational and does not belong to the question itself.
pub fn is_small_talk(word: &str) -> bool {
    SMALL_TALK_SET.contains(word)
}

/// Whether a word may precede a request without changing its meaning.
pub fn is_polite(word: &str) -> bool {
    POLITE_SET.contains(word)
}

/// Returns all small words, for the lexicon.
pub fn small_words() -> impl Iterator<Item = &'static str> {
    [STOP, FILLERS, POLITE, SWEDISH, ENGLISH].into_iter().flat_map(str::split_whitespace)
}

/// Returns correct words that must not be read as misspellings, for the lexicon.
pub fn correct_words() -> impl Iterator<Item = &'static str> {
    KNOWN.split_whitespace()
}

/// Detects the language of a text. Returns None if the text gives no indication of the language.
pub fn detect_language(text: &str, words: &[&str]) -> Option<Language> {
    let (swedish, english) = count_signs(text, words);
    match swedish.cmp(&english) {
        std::cmp::Ordering::Greater => Some(Language::Sv),
        std::cmp::Ordering::Less => Some(Language::En),
        std::cmp::Ordering::Equal => None,
    }
}

/// Returns the language of a text if the indications are clear. A single English word is not
/// enough, because English words are common in other languages, too.
pub fn language_of(text: &str) -> Option<Language> {
    let tokens = crate::tokens(text);
    let words: Vec<&str> = tokens.iter().map(|token| token.fold.as_str()).collect();
    let (swedish, english) = count_signs(text, &words);
    if swedish > english {
        Some(Language::Sv)
    } else {
        (english > swedish + SIGN).then_some(Language::En)
    }
}

/// The weight of a word that occurs in only one of the languages.
const SIGN: usize = 2;

/// Returns the weights of the indications for Swedish and for English.
fn count_signs(text: &str, words: &[&str]) -> (usize, usize) {
    let is_between = |c: char| c.is_whitespace() || ",.?!;:()\"".contains(c);
    let weigh = |(at, word): (usize, &str)| weigh_letters(word, at == 0);
    let letters: usize = text.split(is_between).enumerate().map(weigh).sum();
    let swedish = words.iter().filter(|word| SWEDISH_SET.contains(*word)).count() * SIGN + letters;
    // "för" is not "for", so a word with such a letter is not English.
    let plain = text.split(is_between).filter(|word| word.is_ascii());
    let english = plain.filter(|word| ENGLISH_SET.contains(fold(word).as_str())).count() * SIGN;
    (swedish, english)
}

/// Weighs the Swedish letters of a word. A word with a capital inside a text may be a name, and
/// such names occur in English texts, too.
fn weigh_letters(word: &str, is_first: bool) -> usize {
    let has_letters = word.chars().any(|c| matches!(c, 'å' | 'ä' | 'ö' | 'Å' | 'Ä' | 'Ö'));
    let is_capital = word.chars().next().is_some_and(char::is_uppercase);
    match (has_letters, is_capital, is_first) {
        (false, ..) | (true, true, false) => 0,
        (true, true, true) => 1,
        (true, false, _) => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, language_of};

    #[test]
    fn a_language_is_detected_only_from_clear_signs() {
        for (text, language) in [
            ("Hur mycket har konto 17 spenderat?", Some(Language::Sv)),
            ("How is account 17 pacing?", Some(Language::En)),
            ("How is Åre Fjällresor pacing this month?", Some(Language::En)),
            ("waterproof jackets not from Fjällstig", None),
            ("på väg", Some(Language::Sv)),
            ("Glacier Tents", None),
            ("budget", None),
            ("17", None),
            ("", None),
        ] {
            assert_eq!(language_of(text), language, "{text}");
        }
    }
}
