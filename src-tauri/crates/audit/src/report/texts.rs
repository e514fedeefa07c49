//! The words of a page in both languages. One row a word, so that none is missing in one of them.

/// The language of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageLanguage {
    /// English.
    #[default]
    English,
    /// Swedish.
    Swedish,
}

impl PageLanguage {
    /// Returns the language of a tag such as `sv` or `sv-SE`. All others are English.
    pub fn of_tag(tag: &str) -> Self {
        let first = tag.split(['-', '_']).next().unwrap_or_default();
        if first.eq_ignore_ascii_case("sv") { Self::Swedish } else { Self::English }
    }

    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Swedish => "sv",
        }
    }
}

/// Declares the words: name, English, Swedish.
macro_rules! words {
    ($($name:ident: $english:literal, $swedish:literal;)*) => {
        /// A word or sentence of a page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Word { $($name),* }

        impl Word {
            pub(super) fn in_language(self, language: PageLanguage) -> &'static str {
                match (self, language) {
                    $(
                        (Self::$name, PageLanguage::English) => $english,
                        (Self::$name, PageLanguage::Swedish) => $swedish,
                    )*
                }
            }
        }
    };
}

words! {
    DecisionTitle: "Receipt of a decision", "Kvitto på ett beslut";
    SessionTitle: "Report of a conversation", "Rapport om ett samtal";
    Decision: "Decision", "Beslut";
    Question: "Question", "Fråga";
    Asked: "Who asked", "Vem som frågade";
    Shown: "What the approval showed", "Vad godkännandet visade";
    Signed: "Who decided", "Vem som beslutade";
    Ran: "What ran", "Vad som utfördes";
    Result: "Result", "Resultat";
    Read: "Read without an approval", "Läst utan godkännande";
    Changed: "Changed without an approval", "Ändrat utan godkännande";
    Verify: "How to verify this", "Så kontrolleras detta";
    Records: "Records", "Poster";
    Record: "Record", "Post";
    Time: "Time (UTC)", "Tid (UTC)";
    Event: "Event", "Händelse";
    Status: "Status", "Status";
    Leaf: "Hash of the record (SHA-256)", "Postens hash (SHA-256)";
    Person: "Person", "Person";
    Through: "Through", "Genom";
    Agent: "Agent", "Agent";
    Model: "Model", "Modell";
    Session: "Conversation", "Samtal";
    Tool: "Tool", "Verktyg";
    Server: "Server", "Server";
    Effect: "Effect", "Verkan";
    Why: "Why it needed approval", "Varför det krävde godkännande";
    WhyItRan: "Why it ran", "Varför det utfördes";
    ReadOnly: "reads only", "läser bara";
    Write: "changes data", "ändrar data";
    Destructive: "deletes data or changes it for good", "raderar data eller ändrar dem för gott";
    Expires: "Open until", "Öppet till";
    Arguments: "Arguments", "Argument";
    SameArguments: "The arguments were those that were shown.", "Argumenten var de som visades.";
    Preview: "Preview", "Förhandsvisning";
    Before: "Before", "Före";
    After: "After", "Efter";
    Total: "Total", "Summa";
    SendsTo: "Sends data to", "Skickar data till";
    NotAllowedYet: "Sends data to places that were not allowed", "Skickar data till ställen som inte var tillåtna";
    SendsBytes: "Bytes sent", "Skickade byte";
    Kind: "Kind", "Slag";
    HostPlace: "host", "värd";
    RecipientPlace: "recipient", "mottagare";
    ServerPlace: "server or program", "server eller program";
    Excerpts: "It follows from", "Det följer av";
    Reason: "Reason given", "Angiven orsak";
    TimeTaken: "Time to decide", "Tid till beslut";
    Hash: "Hash of the exact call", "Det exakta anropets hash";
    Took: "Duration", "Varaktighet";
    Seconds: "s", "s";
    Error: "Error", "Fel";
    Erased: "This value was erased from the log.", "Det här värdet har raderats ur loggen.";
    NotRun: "The action did not run.", "Åtgärden utfördes inte.";
    UnknownOutcome: "No result is recorded: the outcome is unknown.",
        "Inget resultat är antecknat: utfallet är okänt.";
    NoQuestion: "The log has no question for this.", "Loggen har ingen fråga till detta.";
    DirectCall: "The tool was called directly.", "Verktyget anropades direkt.";
    Window: "the window", "fönstret";
    Terminal: "a terminal", "en terminal";
    Caller: "a caller over HTTP", "en anropare över HTTP";
    Inside: "Countersign itself", "Countersign självt";
    Approved: "approved", "godkänd";
    Rejected: "rejected", "avslagen";
    Expired: "expired without a decision", "förföll utan beslut";
    Superseded: "replaced by another proposal", "ersatt av ett annat förslag";
    Cancelled: "cancelled", "avbruten";
    Done: "carried out", "utförd";
    Failed: "failed", "misslyckades";
    Ok: "succeeded", "lyckades";
    Log: "Log", "Logg";
    Key: "Fingerprint of the key", "Nyckelns fingeravtryck";
    Size: "Records in the log", "Poster i loggen";
    Root: "Root of the log (SHA-256)", "Loggens rot (SHA-256)";
    HowTo: "This page is for reading. What proves it are the other files of the folder: the exact records, and proofs that each of them is in the signed log. Check them with one of these, where FOLDER is the folder of this page, and compare the fingerprint with the one that Countersign shows:",
        "Sidan är till för att läsas. Det som bevisar den är mappens andra filer: de exakta posterna, och bevis för att var och en finns i den signerade loggen. Kontrollera dem med något av detta, där FOLDER är mappen med den här sidan, och jämför fingeravtrycket med det som Countersign visar:";
    HowToReceipts: "The folder receipts has the same proof for other programs: a C2SP tlog-proof, and a COSE statement with a receipt (RFC 9942).",
        "Mappen receipts har samma bevis för andra program: ett C2SP tlog-proof, och ett COSE-uttalande med ett kvitto (RFC 9942).";
    RunStarted: "Question asked", "Fråga ställd";
    RunEnded: "Answer ended", "Svar avslutat";
    ModelCall: "Model called", "Modell anropad";
    ToolIntent: "Tool called", "Verktyg anropat";
    ToolOutcome: "Tool answered", "Verktyg svarade";
    ApprovalRequested: "Approval requested", "Godkännande begärt";
    ApprovalResolved: "Approval resolved", "Godkännande avgjort";
    PolicyDecision: "Rule applied", "Regel tillämpad";
    GrantCreated: "Permission given", "Tillstånd givet";
    GrantRevoked: "Permission revoked", "Tillstånd återkallat";
    Memory: "Memory changed", "Minne ändrat";
    MemoryRead: "Memory read", "Minne läst";
    ValueErased: "Value erased", "Värde raderat";
    SessionErased: "Conversation erased", "Samtal raderat";
    SettingChanged: "Setting changed", "Inställning ändrad";
    KillSwitch: "Switch used", "Brytare använd";
}

/// Returns the word of a name in records, if the page has one.
pub(super) fn word_of(name: &str) -> Option<Word> {
    Some(match name {
        "read_only" => Word::ReadOnly,
        "write" => Word::Write,
        "destructive" => Word::Destructive,
        "window" => Word::Window,
        "terminal" => Word::Terminal,
        "caller" => Word::Caller,
        "inside" | "host" => Word::Inside,
        "approved" => Word::Approved,
        "rejected" => Word::Rejected,
        "expired" => Word::Expired,
        "superseded" => Word::Superseded,
        "cancelled" => Word::Cancelled,
        "done" => Word::Done,
        "failed" | "error" => Word::Failed,
        "ok" => Word::Ok,
        "run_started" => Word::RunStarted,
        "run_ended" => Word::RunEnded,
        "model_call" => Word::ModelCall,
        "tool_intent" => Word::ToolIntent,
        "tool_outcome" => Word::ToolOutcome,
        "approval_requested" => Word::ApprovalRequested,
        "approval_resolved" => Word::ApprovalResolved,
        "policy_decision" => Word::PolicyDecision,
        "grant_created" => Word::GrantCreated,
        "grant_revoked" => Word::GrantRevoked,
        "memory" => Word::Memory,
        "memory_read" => Word::MemoryRead,
        "value_erased" => Word::ValueErased,
        "session_erased" => Word::SessionErased,
        "setting_changed" => Word::SettingChanged,
        "kill_switch" => Word::KillSwitch,
        _ => return None,
    })
}
