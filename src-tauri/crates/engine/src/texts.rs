//! The host's own sentences, in English and Swedish. Model and tool texts are elsewhere.

/// A sentence of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    BoundReached,
    EmptyAnswer,
    Cancelled,
    Interrupted,
    QueuedLost,
    ApprovalExpired,
    ApprovalDied,
    ApprovalRejected,
    ApprovalCancelled,
    SessionDeleted,
    NotApprovedHeadless,
    PolicyDenied,
    CallsOverLimit,
    OneAtATime,
    SameCallAgain,
    UnknownOutcome,
    CancelledCall,
    InvalidOutput,
    ServiceFailed,
    WriteDone,
    FellBack,
    SummaryFailed,
    AsOf,
    OriginDefault,
    OriginInherited,
    OriginExplicit,
    AnsweredBy,
    And,
    BudgetRun,
    BudgetSession,
    BudgetDay,
    BudgetCut,
    BudgetHint,
    OutOfTime,
    NotKept,
    DoneElsewhere,
}

impl Text {
    /// The sentence in a language; anything but Swedish is English.
    pub fn in_locale(self, locale: &str) -> &'static str {
        if locale.starts_with("sv") { self.swedish() } else { self.english() }
    }

    fn english(self) -> &'static str {
        match self {
            Self::BoundReached => "I could not finish within the steps allowed for one message. What was found so far is above; ask again for the rest.",
            Self::EmptyAnswer => "The model gave no answer. Ask again, or word the question differently.",
            Self::Cancelled => "Stopped.",
            Self::Interrupted => "Countersign ended while this was being answered. Nothing was repeated; ask again if you still need it.",
            Self::QueuedLost => "Countersign ended before this message was answered. Send it again if you still need it.",
            Self::ApprovalExpired => "Nobody decided in time.",
            Self::ApprovalDied => "Countersign ended while this waited for a decision.",
            Self::ApprovalRejected => "Rejected by you.",
            Self::ApprovalCancelled => "The turn was stopped before a decision.",
            Self::SessionDeleted => "Its session was deleted before a decision.",
            Self::NotApprovedHeadless => "This needs an approval, and nobody is here to give it.",
            Self::PolicyDenied => "The policy does not allow this.",
            Self::OneAtATime => "Not run: one change at a time. Ask for it again if it is still needed.",
            Self::CallsOverLimit => "Not run: too many tool calls in one step. Ask for it again if it is still needed.",
            Self::SameCallAgain => "Not run: the same call was made already in this turn, and its result stands above.",
            Self::UnknownOutcome => "It is not known whether this happened. Check before you repeat it.",
            Self::CancelledCall => "Stopped before it finished.",
            Self::InvalidOutput => "The tool answered in a shape that it does not declare.",
            Self::ServiceFailed => "The service did not answer. Please try again later.",
            Self::WriteDone => "Done without asking, as the policy allows:",
            Self::FellBack => "{from} could not answer: {why} {to} answers instead.",
            Self::SummaryFailed => "The earlier messages could not be summarised: {why} The model goes on reading them in full, and it will be tried again.",
            Self::AsOf => "as of",
            Self::OriginDefault => "default",
            Self::OriginInherited => "inherited",
            Self::OriginExplicit => "explicit",
            Self::AnsweredBy => "Answered by",
            Self::And => "and",
            Self::BudgetRun => "This message would go over its budget: {used} of {most} are used, and the next model call needs at least {needed}.",
            Self::BudgetSession => "This conversation would go over its budget: {used} of {most} are used, and the next model call needs at least {needed}.",
            Self::BudgetDay => "The budget of this day would be passed: {used} of {most} are used, and the next model call needs at least {needed}.",
            Self::BudgetCut => "The answer ends here: the budget allows no more.",
            Self::BudgetHint => "Raise the budget in Settings, ask for less, or choose a cheaper or local model.",
            Self::OutOfTime => "Not run: the time for this message is over. Answer the user now from what there is.",
            Self::NotKept => "Not kept",
            Self::DoneElsewhere => "It was done; what came of it was not told.",
        }
    }

    fn swedish(self) -> &'static str {
        match self {
            Self::BoundReached => "Jag hann inte klart inom de steg som ett meddelande får ta. Det som hittats står ovan; fråga igen om resten.",
            Self::EmptyAnswer => "Modellen gav inget svar. Fråga igen eller formulera frågan på ett annat sätt.",
            Self::Cancelled => "Stoppad.",
            Self::Interrupted => "Countersign avslutades medan det här besvarades. Inget upprepades; fråga igen om du fortfarande behöver det.",
            Self::QueuedLost => "Countersign avslutades innan meddelandet besvarades. Skicka det igen om du fortfarande behöver svar.",
            Self::ApprovalExpired => "Ingen beslutade i tid.",
            Self::ApprovalDied => "Countersign avslutades medan detta väntade på beslut.",
            Self::ApprovalRejected => "Avslaget av dig.",
            Self::ApprovalCancelled => "Turen stoppades före beslut.",
            Self::SessionDeleted => "Sessionen togs bort före beslut.",
            Self::NotApprovedHeadless => "Detta kräver ett godkännande och ingen finns här som kan ge det.",
            Self::PolicyDenied => "Policyn tillåter inte detta.",
            Self::OneAtATime => "Inte kört: en ändring i taget. Be om den igen om den behövs.",
            Self::CallsOverLimit => "Inte kört: för många verktygsanrop i ett steg. Be om det igen om det behövs.",
            Self::SameCallAgain => "Inte kört: samma anrop har redan gjorts i den här turen och resultatet står ovan.",
            Self::UnknownOutcome => "Det är okänt om detta hände. Kontrollera innan du upprepar det.",
            Self::CancelledCall => "Stoppat innan det blev klart.",
            Self::InvalidOutput => "Verktyget svarade i en form som det inte anger.",
            Self::ServiceFailed => "Tjänsten svarade inte. Försök igen senare.",
            Self::WriteDone => "Gjort utan att fråga, som policyn tillåter:",
            Self::FellBack => "{from} kunde inte svara: {why} {to} svarar i stället.",
            Self::SummaryFailed => {
                "De tidigare meddelandena kunde inte sammanfattas: {why} Modellen läser dem i sin helhet tills vidare och det görs ett nytt försök."
            }
            Self::AsOf => "per",
            Self::OriginDefault => "förvalt",
            Self::OriginInherited => "ärvt",
            Self::OriginExplicit => "angivet",
            Self::AnsweredBy => "Besvarat av",
            Self::And => "och",
            Self::BudgetRun => "Meddelandet skulle gå över sin budget: {used} av {most} är använt och nästa modellanrop behöver minst {needed}.",
            Self::BudgetSession => "Samtalet skulle gå över sin budget: {used} av {most} är använt och nästa modellanrop behöver minst {needed}.",
            Self::BudgetDay => "Dagens budget skulle överskridas: {used} av {most} är använt och nästa modellanrop behöver minst {needed}.",
            Self::BudgetCut => "Svaret slutar här: budgeten tillåter inte mer.",
            Self::BudgetHint => "Höj budgeten i Inställningar, be om mindre eller välj en billigare eller lokal modell.",
            Self::OutOfTime => "Inte kört: tiden för meddelandet är slut. Svara användaren nu utifrån det som finns.",
            Self::NotKept => "Sparas inte",
            Self::DoneElsewhere => "Det gjordes; vad som kom av det berättades inte.",
        }
    }
}
