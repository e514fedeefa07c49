//! The host's own sentences. Texts of models and tools are elsewhere.

messages::keys! {
    /// A sentence of the host.
    pub enum Text in "engine" {
        BoundReached => "bound_reached",
        EmptyAnswer => "empty_answer",
        Cancelled => "cancelled",
        Interrupted => "interrupted",
        QueuedLost => "queued_lost",
        ApprovalExpired => "approval_expired",
        ApprovalDied => "approval_died",
        ApprovalRejected => "approval_rejected",
        RejectedBefore => "rejected_before",
        ApprovalCancelled => "approval_cancelled",
        SessionDeleted => "session_deleted",
        MessageDeleted => "message_deleted",
        NotApprovedHeadless => "not_approved_headless",
        PolicyDenied => "policy_denied",
        CallsOverLimit => "calls_over_limit",
        OneAtATime => "one_at_a_time",
        SameCallAgain => "same_call_again",
        UnknownOutcome => "unknown_outcome",
        CancelledCall => "cancelled_call",
        InvalidOutput => "invalid_output",
        ResultMisfit => "result_misfit",
        ResultCut => "result_cut",
        ServiceFailed => "service_failed",
        WriteDone => "write_done",
        PermissionLost => "permission_lost",
        FellBack => "fell_back",
        ModelLoads => "model_loads",
        NoTools => "no_tools",
        ToolsLeftOut => "tools_left_out",
        SecretRemoved => "secret_removed",
        OldestLeftOut => "oldest_left_out",
        SummaryFailed => "summary_failed",
        AsOf => "as_of",
        OriginDefault => "origin_default",
        OriginInherited => "origin_inherited",
        AnsweredBy => "answered_by",
        And => "and",
        BudgetRun => "budget_run",
        BudgetSession => "budget_session",
        BudgetDay => "budget_day",
        BudgetCut => "budget_cut",
        EndsEarly => "ends_early",
        LengthCut => "length_cut",
        FilterCut => "filter_cut",
        BudgetHint => "budget_hint",
        OutOfTime => "out_of_time",
        NotKept => "not_kept",
        DoneElsewhere => "done_elsewhere",
        EndedElsewhere => "ended_elsewhere",
        DoneSinceCopy => "done_since_copy",
    }
}

impl Text {
    /// Returns the sentence in the language of a locale.
    pub fn in_locale(self, locale: &str) -> &'static str {
        self.text(messages::Language::of_tag(locale))
    }
}
