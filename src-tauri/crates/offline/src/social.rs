//! Recognises messages that need no tool: greetings, thanks, yes, no, "who are you", and topics
//! that no pack covers.

use std::sync::LazyLock;

use language::{
    Token,
    yes_no::{NO_PHRASES, YES_PHRASES},
};

use super::pattern::{Index, Pattern};

/// A message that needs no tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Social {
    Greeting,
    HowAreYou,
    Thanks,
    Bye,
    Help,
    Identity,
    /// A question about where the data goes and who can see it.
    Data,
    Yes,
    No,
    /// A topic outside the packs: weather, e-mail, jokes.
    OffTopic,
}

const PHRASES: &[(Social, &str)] = &[
    (
        Social::Help,
        "what can you do; what can i ask; what can i do; what do you do; ^help; help me; how does this|it work; what are you able; what \
         else can you; your capabilities; what is this; show me what you can; what should i ask; examples; how can you help; what is possible; \
         features; vad kan du; vad kan jag; ^hjalp; hjalp mig; hur fungerar|funkar det|detta; vad gor du; exempel; vad gar det att; \
         what can you tell; what kind of questions; vad kan man; get|need some help; get|need help; fa|ha|behover hjalp",
    ),
    (
        Social::Data,
        "where|what * my|our data|messages|conversations go|goes|stored|sent|kept; what happens with|to my|our data; who sees|reads|gets|can * my|our \
         data|messages; do you send|share|store|upload * data; is my|our data * safe|private|secure; does * leave my|this computer|machine; work|works|run \
         without internet|network|wifi; vart tar|går|gar * data|datan; var lagras|sparas|hamnar * data|datan; vem ser|läser|laser * data|datan|meddelanden; \
         skickar|delar|sparar du * data; är|ar min|vår|var data * säker|saker|privat; funkar|funka|fungerar|fungera|köra|kora utan internet|internett|nätverk|natverk|uppkoppling; lämnar|lamnar * datorn",
    ),
    (
        Social::Identity,
        "who are you; what are you; are you a|an|human|real|chatgpt|gpt|claude|ai|llm; are you * language model; which model; what model; what llm; \
         are you chatgpt|gpt|claude|gemini; your name; who made you; are you human; are you real; are you a|an * human|person|robot|bot|machine; are you ai; are you online; do you use * internet; \
         are you offline; is this chatgpt|gpt|ai; language model; vem ar du; vad ar du; ar du en; vilken modell; vad heter du; ar du * ai; ar du \
         chatgpt|gpt; sprakmodell; ar du manniska; ar du riktig; ar du en * manniska|person|robot|bot|maskin",
    ),
    (
        Social::HowAreYou,
        "how are you; hows it going; how is it going; whats up; how do you do; hur mar du; hur ar laget; laget; hur gar det",
    ),
    (
        Social::Thanks,
        "thanks; thank you; thx; thank u; ty; cheers; great; perfect; awesome; nice; cool; well done; good job; tack; tackar; tusen tack; much appreciated; appreciate; toppen; bra; snyggt; \
         perfekt; kanon",
    ),
    (
        Social::Bye,
        "bye; goodbye; see you; see ya; good night; hej da; hejda; ha det bra; vi ses; god natt",
    ),
    (
        Social::Greeting,
        "hi; hello; hey; hiya; good morning; good afternoon; good evening; morning; yo; howdy; greetings; hej; hejsan; hej hej; tjo; morsning; hi there; evening; tjena; halla; god morgon; godmorgon; tjenare; god \
         kvall; goddag; tjanare; hallo",
    ),
    (Social::Yes, YES_PHRASES),
    (Social::No, NO_PHRASES),
    (
        Social::OffTopic,
        "weather; forecast * rain; email; e mail; mail; joke; poem; story; news; translate; calendar; meeting; remind; reminder; football; recipe; \
         capital of; president; prime minister; stock market; bitcoin; song; music; movie; write * code; python; javascript; book a|me * \
         flight|hotel|table; call|phone|text my|mom|bob|him|her; slack; powerpoint; invoice; alarm; timer; what time; \
         directions; taxi; pizza; homework; essay; meaning of life; linkedin; tweet; facebook post; vader; vadret; mejl; mejla; skamt; vits; dikt; \
         nyheter; oversatt; kalender; mote; paminn; recept; huvudstad; huvudstaden; vad ar klockan; musik; film; lat mig sova; boka; faktura; \
         ring min; skriv * mejl|brev|dikt; statsminister; flight; restaurant; horoscope; lottery; resume; cv; whatsapp; sova; flyg; \
         how do you|i|we say; say|write|answer|called * in swedish|english|german|french; vad heter * pa svenska|engelska; my|this|the sql|code|script|formula|regex; \
         bash|shell script|skript; \
         restaurang; horoskop; lotto",
    ),
];

/// Words of clauses that only consider or ask something. A request does not begin with a question
/// word.
const HEDGES: &str = "might; maybe i|we; perhaps i|we; thinking about|of; considering; consider; not sure; wonder|wondering; if i|we; what if; what happens; \
    kanske; funderar; undrar; tänker; osäker; om jag|vi; vad händer; ^why; ^when; ^who; ^where; ^what; ^which; ^how; ^did; \
    ^do i|we|they; ^does; ^have i|you|we; ^has; ^was; ^were; ^is; ^are; ^should; ^am; ^varför; ^när; ^vem; ^vad; ^vilken|vilket|vilka; ^hur; ^har du|jag|vi|ni; \
    ^är; ^borde; ^bör; ^måste; ^ska jag|vi; ^skulle det|man; ^går det";

static COMPILED: LazyLock<Index<usize>> = LazyLock::new(|| {
    Index::new(
        PHRASES
            .iter()
            .enumerate()
            .flat_map(|(order, (_, phrases))| {
                phrases.split(';').map(move |phrase| (order, Pattern::new(phrase)))
            })
            .collect(),
    )
});

static HEDGED: LazyLock<Index<()>> = LazyLock::new(|| {
    Index::new(HEDGES.split(';').map(|phrase| ((), Pattern::new(phrase))).collect())
});

/// Whether a clause only considers something and requests nothing: "I might buy two".
pub(super) fn is_hedged(tokens: &[Token], words: &[usize]) -> bool {
    !HEDGED.find(tokens, words).is_empty()
}

/// Returns the kinds of talk in a message, in the order of the list above.
pub(super) fn recognise(tokens: &[Token], words: &[usize]) -> Vec<Social> {
    let mut found: Vec<usize> =
        COMPILED.find(tokens, words).into_iter().map(|(order, ..)| order).collect();
    found.dedup();
    found.into_iter().map(|order| PHRASES[order].0).collect()
}

/// Returns the tokens that the phrases matched.
pub(super) fn matched_tokens(tokens: &[Token], words: &[usize]) -> Vec<usize> {
    COMPILED.find(tokens, words).into_iter().flat_map(|(_, hit, _)| hit.used).collect()
}

/// Returns the tokens of phrases about topics that no pack covers.
pub(super) fn tokens_off_topic(tokens: &[Token], words: &[usize]) -> Vec<usize> {
    let hits = COMPILED.find(tokens, words).into_iter();
    let is_off_topic = |order: usize| matches!(PHRASES[order].0, Social::OffTopic);
    hits.filter(|(order, ..)| is_off_topic(*order)).flat_map(|(_, hit, _)| hit.used).collect()
}

/// Returns the words of the phrases, for the lexicon.
pub(super) fn phrase_words() -> impl Iterator<Item = &'static str> {
    COMPILED.patterns().chain(HEDGED.patterns()).flat_map(Pattern::words)
}
