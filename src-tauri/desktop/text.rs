//! The texts outside the pages, in English and Swedish: tray, notifications, native dialogs.

use contract::{AgentError, Reason};

/// The language of native texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    #[default]
    English,
    Swedish,
}

impl Language {
    /// Returns the language of a setting or locale name; English if unknown.
    pub(crate) fn of(tag: &str) -> Self {
        if tag.to_ascii_lowercase().starts_with("sv") { Self::Swedish } else { Self::English }
    }

    fn pick(self, english: &str, swedish: &str) -> String {
        match self {
            Self::English => english.to_owned(),
            Self::Swedish => swedish.to_owned(),
        }
    }

    pub(crate) fn show_label(self) -> String {
        self.pick("Show Countersign", "Visa Countersign")
    }

    pub(crate) fn approvals_label(self, waiting: u32) -> String {
        match (self, waiting) {
            (Self::English, 0) => "Approvals".to_owned(),
            (Self::English, n) => format!("Approvals ({n} waiting)"),
            (Self::Swedish, 0) => "Godkännanden".to_owned(),
            (Self::Swedish, n) => format!("Godkännanden ({n} väntar)"),
        }
    }

    pub(crate) fn quit_label(self) -> String {
        self.pick("Quit", "Avsluta")
    }

    pub(crate) fn quit_title(self) -> String {
        self.pick("Quit Countersign?", "Avsluta Countersign?")
    }

    pub(crate) fn quit_question(self, waiting: u32) -> String {
        match (self, waiting) {
            (Self::English, 1) => {
                "1 action waits for you. If you quit now, it is cancelled.".to_owned()
            }
            (Self::English, n) => {
                format!("{n} actions wait for you. If you quit now, they are cancelled.")
            }
            (Self::Swedish, 1) => {
                "1 åtgärd väntar på dig. Om du avslutar nu avbryts den.".to_owned()
            }
            (Self::Swedish, n) => {
                format!("{n} åtgärder väntar på dig. Om du avslutar nu avbryts de.")
            }
        }
    }

    pub(crate) fn keep_open_label(self) -> String {
        self.pick("Keep open", "Låt vara öppet")
    }

    pub(crate) fn tray_tooltip(self, waiting: u32) -> String {
        match (self, waiting) {
            (Self::English | Self::Swedish, 0) => "Countersign".to_owned(),
            (Self::English, 1) => "Countersign: 1 approval pending".to_owned(),
            (Self::English, n) => format!("Countersign: {n} approvals pending"),
            (Self::Swedish, 1) => "Countersign: 1 godkännande väntar".to_owned(),
            (Self::Swedish, n) => format!("Countersign: {n} godkännanden väntar"),
        }
    }

    pub(crate) fn approval_title(self) -> String {
        self.pick("Your approval is needed", "Ditt godkännande behövs")
    }

    pub(crate) fn approval_body(self, tool: &str) -> String {
        match self {
            Self::English => {
                format!("\"{tool}\" waits for your decision. Nothing happens until you decide.")
            }
            Self::Swedish => {
                format!("\"{tool}\" väntar på ditt beslut. Inget händer förrän du bestämmer dig.")
            }
        }
    }

    pub(crate) fn expiry_title(self) -> String {
        self.pick("An approval has expired", "Ett godkännande har gått ut")
    }

    pub(crate) fn expiry_body(self, tool: &str) -> String {
        match self {
            Self::English => format!("Nobody decided about \"{tool}\" in time. Nothing was done."),
            Self::Swedish => {
                format!("Ingen bestämde sig om \"{tool}\" i tid. Inget gjordes.")
            }
        }
    }

    pub(crate) fn approval_window(self) -> String {
        self.pick("Approval - Countersign", "Godkännande - Countersign")
    }

    pub(crate) fn open_link_title(self) -> String {
        self.pick("Open this link?", "Öppna länken?")
    }

    pub(crate) fn open_link_body(self, url: &str) -> String {
        match self {
            Self::English => format!("This opens outside Countersign:\n\n{url}"),
            Self::Swedish => format!("Detta öppnas utanför Countersign:\n\n{url}"),
        }
    }

    pub(crate) fn open(self) -> String {
        self.pick("Open", "Öppna")
    }

    pub(crate) fn cancel_label(self) -> String {
        self.pick("Cancel", "Avbryt")
    }

    pub(crate) fn cannot_start(self) -> String {
        self.pick("Countersign cannot start", "Countersign kan inte starta")
    }

    /// Returns why there is no host, and what to do. The host provides an English text; the usual
    /// reasons also have a Swedish one here.
    pub(crate) fn start_failure(self, error: &AgentError) -> (String, Option<String>) {
        let folder =
            error.details.get("folder").and_then(serde_json::Value::as_str).unwrap_or_default();
        match (self, error.known_reason()) {
            (Self::Swedish, Some(Reason::DataDirUnwritable)) => (
                format!(
                    "Det går inte att skriva i {folder}: mappen är skrivskyddad, tillhör någon annan eller disken är full. \
                     Countersign antecknar varje steg där och startade därför inte; inget ändrades."
                ),
                Some("Frigör utrymme eller gör mappen skrivbar och starta igen, eller välj en annan mapp med --data-dir.".to_owned()),
            ),
            (Self::Swedish, Some(Reason::ProfileInUse)) => {
                (format!("{folder} används av en annan Countersign."), Some("Använd den, eller välj en annan mapp med --data-dir.".to_owned()))
            }
            (Self::English | Self::Swedish, _) => (error.message.clone(), error.hint_text().map(str::to_owned)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn language_follows_tags_and_locales() {
        assert_eq!(Language::of("sv"), Language::Swedish);
        assert_eq!(Language::of("sv_SE.UTF-8"), Language::Swedish);
        assert_eq!(Language::of("C"), Language::English);
    }

    #[test]
    fn counts_are_told() {
        assert_eq!(Language::English.tray_tooltip(1), "Countersign: 1 approval pending");
        assert_eq!(Language::Swedish.approvals_label(2), "Godkännanden (2 väntar)");
        assert!(Language::English.quit_question(1).starts_with("1 action waits"));
        assert!(Language::Swedish.quit_question(3).starts_with("3 åtgärder väntar"));
    }
}
