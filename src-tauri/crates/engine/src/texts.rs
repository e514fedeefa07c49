//! The host's own sentences in English and Swedish. Texts of models and tools are elsewhere.

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
    RejectedBefore,
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
    ResultMisfit,
    ResultCut,
    ServiceFailed,
    WriteDone,
    PermissionLost,
    FellBack,
    ModelLoads,
    NoTools,
    ToolsLeftOut,
    SecretRemoved,
    OldestLeftOut,
    SummaryFailed,
    AsOf,
    OriginDefault,
    OriginInherited,
    AnsweredBy,
    And,
    BudgetRun,
    BudgetSession,
    BudgetDay,
    BudgetCut,
    EndsEarly,
    LengthCut,
    FilterCut,
    BudgetHint,
    OutOfTime,
    NotKept,
    DoneElsewhere,
    EndedElsewhere,
}

impl Text {
    /// Returns the sentence in a language: Swedish, or English for any other language.
    pub fn in_locale(self, locale: &str) -> &'static str {
        if locale.starts_with("sv") { self.swedish() } else { self.english() }
    }

    fn english(self) -> &'static str {
        match self {
            Self::BoundReached => {
                "I could not finish within the steps allowed for one message. What was found so far is above; ask again for the rest."
            }
            Self::EmptyAnswer => {
                "The model gave no answer. Ask again, or word the question differently."
            }
            Self::Cancelled => "Stopped.",
            Self::Interrupted => {
                "Countersign was closed while this was being answered. Nothing was repeated; ask again if you still need it."
            }
            Self::QueuedLost => {
                "Countersign was closed before this message was answered. Send it again if you still need it."
            }
            Self::ApprovalExpired => "Expired – no decision.",
            Self::ApprovalDied => "Cancelled because Countersign was closed.",
            Self::ApprovalRejected => "Rejected by you.",
            Self::RejectedBefore => {
                "You rejected this change a moment ago, so it was not proposed again."
            }
            Self::ApprovalCancelled => "The turn was stopped before a decision.",
            Self::SessionDeleted => "Its session was deleted before a decision.",
            Self::NotApprovedHeadless => "This needs an approval, and nobody is here to give it.",
            Self::PolicyDenied => "The policy does not allow this.",
            Self::OneAtATime => {
                "Not run: one change at a time. Ask for it again if it is still needed."
            }
            Self::CallsOverLimit => {
                "Not run: too many tool calls in one step. Ask for it again if it is still needed."
            }
            Self::SameCallAgain => {
                "Not run: the same call was made already in this turn, and its result stands above."
            }
            Self::UnknownOutcome => {
                "It is not known whether this happened. Check before you repeat it."
            }
            Self::CancelledCall => "Stopped before it finished.",
            Self::InvalidOutput => "The tool answered in a shape that it does not declare.",
            Self::ResultMisfit => {
                "The result does not have the shape that its server declares ({place}). It is shown as it came."
            }
            Self::ResultCut => {
                "The result has {size}, which is more than is kept. Only its beginning is here; ask for less to see all of it."
            }
            Self::ServiceFailed => "The service did not answer. Please try again later.",
            Self::WriteDone => "Done without asking, as the policy allows:",
            Self::PermissionLost => {
                "The permission for the rest of the session could not be stored: you will be asked again."
            }
            Self::ModelLoads => "The model is being loaded.",
            Self::NoTools => "{model} takes no tools. It answers without them.",
            Self::ToolsLeftOut => {
                "{model} takes at most {most} tools. {left} were left out, of: {servers}."
            }
            Self::FellBack => "{from} could not answer: {why} {to} answers instead.",
            Self::SecretRemoved => "A stored key was removed from the model's answer.",
            Self::OldestLeftOut => {
                "The conversation is too long for the model. Its oldest messages were left out of this answer."
            }
            Self::SummaryFailed => {
                "The earlier messages could not be summarised: {why} The model goes on reading them in full, and it will be tried again."
            }
            Self::AsOf => "as of",
            Self::OriginDefault => "the default",
            Self::OriginInherited => "kept from the question before",
            Self::AnsweredBy => "Answered by",
            Self::And => "and",
            Self::BudgetRun => {
                "This message would go over its budget: {used} of {most} are used, and the next model call needs at least {needed}."
            }
            Self::BudgetSession => {
                "This conversation would go over its budget: {used} of {most} are used, and the next model call needs at least {needed}."
            }
            Self::BudgetDay => {
                "The budget of this day would be passed: {used} of {most} are used, and the next model call needs at least {needed}."
            }
            Self::BudgetCut => "The answer ends here: the budget allows no more.",
            Self::EndsEarly => "The answer ends here.",
            Self::LengthCut => "The answer ends here: the longest answer allowed was reached.",
            Self::FilterCut => "The answer ends here: the provider's safety rules stopped it.",
            Self::BudgetHint => {
                "Raise the budget in Settings, ask for less, or choose a cheaper or local model."
            }
            Self::OutOfTime => {
                "Not run: the time for this message is over. Answer the user now from what there is."
            }
            Self::NotKept => "Not kept",
            Self::DoneElsewhere => "It was done; what came of it was not told.",
            Self::EndedElsewhere => "It ended at another gateway, which did not tell how.",
        }
    }

    fn swedish(self) -> &'static str {
        match self {
            Self::BoundReached => {
                "Jag hann inte klart inom de steg som ett meddelande får ta. Det som hittats står ovan; fråga igen om resten."
            }
            Self::EmptyAnswer => {
                "Modellen gav inget svar. Fråga igen eller formulera frågan på ett annat sätt."
            }
            Self::Cancelled => "Stoppad.",
            Self::Interrupted => {
                "Countersign avslutades medan det här besvarades. Inget upprepades; fråga igen om du fortfarande behöver det."
            }
            Self::QueuedLost => {
                "Countersign avslutades innan meddelandet besvarades. Skicka det igen om du fortfarande behöver svar."
            }
            Self::ApprovalExpired => "Tiden gick ut – inget beslut.",
            Self::ApprovalDied => "Avbrutet eftersom Countersign stängdes.",
            Self::ApprovalRejected => "Avslaget av dig.",
            Self::RejectedBefore => "Du avslog den här ändringen nyss, så den föreslogs inte igen.",
            Self::ApprovalCancelled => "Turen stoppades före beslut.",
            Self::SessionDeleted => "Konversationen togs bort före beslut.",
            Self::NotApprovedHeadless => {
                "Detta kräver ett godkännande och ingen finns här som kan ge det."
            }
            Self::PolicyDenied => "Policyn tillåter inte detta.",
            Self::OneAtATime => "Inte kört: en ändring i taget. Be om den igen om den behövs.",
            Self::CallsOverLimit => {
                "Inte kört: för många verktygsanrop i ett steg. Be om det igen om det behövs."
            }
            Self::SameCallAgain => {
                "Inte kört: samma anrop har redan gjorts i den här turen och resultatet står ovan."
            }
            Self::UnknownOutcome => {
                "Det är okänt om detta hände. Kontrollera innan du upprepar det."
            }
            Self::CancelledCall => "Stoppat innan det blev klart.",
            Self::InvalidOutput => "Verktyget svarade i en form som det inte anger.",
            Self::ResultMisfit => {
                "Resultatet har inte den form som dess server anger ({place}). Det visas som det kom."
            }
            Self::ResultCut => {
                "Resultatet är på {size}, vilket är mer än vad som sparas. Bara början finns här; be om mindre för att se allt."
            }
            Self::ServiceFailed => "Tjänsten svarade inte. Försök igen senare.",
            Self::WriteDone => "Gjort utan att fråga, som policyn tillåter:",
            Self::PermissionLost => {
                "Tillåtelsen för resten av sessionen kunde inte sparas: du blir tillfrågad igen."
            }
            Self::ModelLoads => "Modellen laddas.",
            Self::NoTools => "{model} tar inga verktyg. Den svarar utan dem.",
            Self::ToolsLeftOut => {
                "{model} tar högst {most} verktyg. {left} utelämnades, från: {servers}."
            }
            Self::FellBack => "{from} kunde inte svara: {why} {to} svarar i stället.",
            Self::SecretRemoved => "En lagrad nyckel togs bort ur modellens svar.",
            Self::OldestLeftOut => {
                "Konversationen är för lång för modellen. De äldsta meddelandena räknades inte med i det här svaret."
            }
            Self::SummaryFailed => {
                "De tidigare meddelandena kunde inte sammanfattas: {why} Modellen läser dem i sin helhet tills vidare och det görs ett nytt försök."
            }
            Self::AsOf => "per",
            Self::OriginDefault => "förval",
            Self::OriginInherited => "kvar från frågan före",
            Self::AnsweredBy => "Besvarat av",
            Self::And => "och",
            Self::BudgetRun => {
                "Meddelandet skulle gå över sin budget: {used} av {most} är använt och nästa modellanrop behöver minst {needed}."
            }
            Self::BudgetSession => {
                "Konversationen skulle gå över sin budget: {used} av {most} är använt och nästa modellanrop behöver minst {needed}."
            }
            Self::BudgetDay => {
                "Dagens budget skulle överskridas: {used} av {most} är använt och nästa modellanrop behöver minst {needed}."
            }
            Self::BudgetCut => "Svaret slutar här: budgeten tillåter inte mer.",
            Self::EndsEarly => "Svaret slutar här.",
            Self::LengthCut => "Svaret slutar här: det längsta svar som tillåts är nått.",
            Self::FilterCut => "Svaret slutar här: leverantörens säkerhetsregler stoppade det.",
            Self::BudgetHint => {
                "Höj budgeten i Inställningar, be om mindre eller välj en billigare eller lokal modell."
            }
            Self::OutOfTime => {
                "Inte kört: tiden för meddelandet är slut. Svara användaren nu utifrån det som finns."
            }
            Self::NotKept => "Sparas inte",
            Self::DoneElsewhere => "Det gjordes; vad som kom av det berättades inte.",
            Self::EndedElsewhere => "Det avslutades vid en annan gateway, som inte berättade hur.",
        }
    }
}
