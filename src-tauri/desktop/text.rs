//! The texts outside the pages: tray, notifications, native dialogs.

use contract::AgentError;

messages::keys! {
    /// A native text.
    enum Text in "desktop" {
        Show => "show",
        Approvals => "approvals",
        ApprovalsWaiting => "approvals_waiting",
        Quit => "quit",
        QuitTitle => "quit_title",
        QuitQuestion => "quit_question",
        QuitImport => "quit_import",
        KeepOpen => "keep_open",
        TooltipWaiting => "tooltip_waiting",
        ApprovalTitle => "approval_title",
        ApprovalBody => "approval_body",
        ExpiryTitle => "expiry_title",
        ExpiryBody => "expiry_body",
        AlertsTitle => "alerts_title",
        ApprovalWindow => "approval_window",
        OpenLinkTitle => "open_link_title",
        OpenLinkBody => "open_link_body",
        Open => "open",
        Cancel => "cancel",
        CannotStart => "cannot_start",
    }
}

/// The language of native texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Language(messages::Language);

impl Language {
    /// Returns the language of a setting or locale name. English if the name is unknown.
    pub(crate) fn of(tag: &str) -> Self {
        Self(messages::Language::of_tag(tag))
    }

    fn say(self, text: Text) -> String {
        text.text(self.0).to_owned()
    }

    pub(crate) fn show_label(self) -> String {
        self.say(Text::Show)
    }

    pub(crate) fn approvals_label(self, waiting: u32) -> String {
        match waiting {
            0 => self.say(Text::Approvals),
            _ => Text::ApprovalsWaiting.count(self.0, waiting.into()),
        }
    }

    pub(crate) fn quit_label(self) -> String {
        self.say(Text::Quit)
    }

    pub(crate) fn quit_title(self) -> String {
        self.say(Text::QuitTitle)
    }

    pub(crate) fn quit_question(self, waiting: u32) -> String {
        Text::QuitQuestion.count(self.0, waiting.into())
    }

    pub(crate) fn quit_import_question(self) -> String {
        self.say(Text::QuitImport)
    }

    pub(crate) fn keep_open_label(self) -> String {
        self.say(Text::KeepOpen)
    }

    pub(crate) fn tray_tooltip(self, waiting: u32) -> String {
        match waiting {
            0 => "Countersign".to_owned(),
            _ => Text::TooltipWaiting.count(self.0, waiting.into()),
        }
    }

    pub(crate) fn approval_title(self) -> String {
        self.say(Text::ApprovalTitle)
    }

    pub(crate) fn approval_body(self, tool: &str) -> String {
        Text::ApprovalBody.fill(self.0, &[("tool", tool)])
    }

    pub(crate) fn expiry_title(self) -> String {
        self.say(Text::ExpiryTitle)
    }

    pub(crate) fn expiry_body(self, tool: &str) -> String {
        Text::ExpiryBody.fill(self.0, &[("tool", tool)])
    }

    pub(crate) fn alerts_title(self, count: u32) -> String {
        Text::AlertsTitle.count(self.0, count.into())
    }

    /// Returns a sentence of the host in this language.
    pub(crate) fn host_text(self, text: &contract::Text) -> String {
        text.translated(&|key| self.0.sentence(key))
    }

    pub(crate) fn approval_window(self) -> String {
        self.say(Text::ApprovalWindow)
    }

    pub(crate) fn open_link_title(self) -> String {
        self.say(Text::OpenLinkTitle)
    }

    pub(crate) fn open_link_body(self, url: &str) -> String {
        Text::OpenLinkBody.fill(self.0, &[("url", url)])
    }

    pub(crate) fn open(self) -> String {
        self.say(Text::Open)
    }

    pub(crate) fn cancel_label(self) -> String {
        self.say(Text::Cancel)
    }

    pub(crate) fn cannot_start(self) -> String {
        self.say(Text::CannotStart)
    }

    /// Returns the reason why there is no host, and the remedy. The host's own text is English.
    pub(crate) fn start_failure(self, error: &AgentError) -> (String, Option<String>) {
        let say = |text: contract::Text| self.host_text(&text);
        (say(error.text()), error.hint_as_text().map(say))
    }
}

#[cfg(test)]
mod tests {
    use contract::{AgentError, text};

    use super::Language;

    fn swedish() -> Language {
        Language::of("sv")
    }

    #[test]
    fn the_language_follows_from_a_tag_or_a_locale() {
        assert_eq!(Language::of("sv_SE.UTF-8"), swedish());
        assert_ne!(Language::of("en"), swedish());
        assert_eq!(Language::of("C"), Language::default());
    }

    #[test]
    fn texts_contain_the_number_of_pending_actions() {
        let english = Language::default();
        assert_eq!(english.tray_tooltip(1), "Countersign: 1 approval pending");
        assert_eq!(english.tray_tooltip(0), "Countersign");
        assert_eq!(swedish().approvals_label(2), "Godkännanden (2 väntar)");
        assert!(english.quit_question(1).starts_with("1 action waits"));
        assert!(swedish().quit_question(3).starts_with("3 åtgärder väntar"));
    }

    #[test]
    fn a_start_failure_is_worded_in_the_language_of_the_window() {
        let error =
            AgentError::invalid(text!("{folder} is in use by another Countersign.", folder = "/a"))
                .hint("Use that one, or choose another folder with --data-dir.");
        let (message, hint) = swedish().start_failure(&error);
        assert_eq!(message, "/a används av en annan Countersign.");
        let hint = hint.unwrap_or_default();
        assert_eq!(hint, "Använd den, eller välj en annan mapp med --data-dir.");
        assert_eq!(Language::default().start_failure(&error).0, error.message);
    }
}
