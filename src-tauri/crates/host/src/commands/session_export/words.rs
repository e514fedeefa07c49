//! The words of an exported conversation.

use contract::{ApprovalStatus, ToolOutcome};

messages::keys! {
    /// A word or sentence of an exported conversation.
    pub(super) enum Word in "conversation" {
        Untitled => "untitled",
        You => "you",
        Assistant => "assistant",
        Exported => "exported",
        Session => "session",
        Verify => "verify",
        NotIncluded => "not_included",
        Partial => "partial",
        Approval => "approval",
        Request => "request",
        Fingerprint => "fingerprint",
        DecidedAt => "decided_at",
        Why => "why",
        Reason => "reason",
        Records => "records",
        Redacted => "redacted",
        Summary => "summary",
        Notice => "notice",
        NoRows => "no_rows",
        FirstRows => "first_rows",
        FirstColumns => "first_columns",
        Total => "total",
        ByModel => "by_model",
        FirstCharacters => "first_characters",
        Yes => "yes",
        No => "no",
        Pending => "pending",
        Approved => "approved",
        Executing => "executing",
        Rejected => "rejected",
        Expired => "expired",
        Cancelled => "cancelled",
        Superseded => "superseded",
        Done => "done",
        Failed => "failed",
        Denied => "denied",
        Limit => "limit",
        Unknown => "unknown",
    }
}

pub(super) const fn of_status(status: ApprovalStatus) -> Word {
    match status {
        ApprovalStatus::Pending => Word::Pending,
        ApprovalStatus::Approved => Word::Approved,
        ApprovalStatus::Executing => Word::Executing,
        ApprovalStatus::Done => Word::Done,
        ApprovalStatus::Failed => Word::Failed,
        ApprovalStatus::Rejected => Word::Rejected,
        ApprovalStatus::Cancelled => Word::Cancelled,
        ApprovalStatus::Superseded => Word::Superseded,
        ApprovalStatus::Expired => Word::Expired,
    }
}

pub(super) const fn of_outcome(outcome: ToolOutcome) -> Word {
    match outcome {
        ToolOutcome::Ok => Word::Done,
        ToolOutcome::Error => Word::Failed,
        ToolOutcome::Limit => Word::Limit,
        ToolOutcome::Denied => Word::Denied,
        ToolOutcome::Rejected => Word::Rejected,
        ToolOutcome::Expired => Word::Expired,
        ToolOutcome::Cancelled => Word::Cancelled,
        ToolOutcome::Unknown => Word::Unknown,
    }
}
