// The state of a tool call as text, tone and icon. Pure.
import type { MessageKey } from "../../../i18n/index.svelte";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { ToolOutcome } from "../../../platform/generated/ToolOutcome";
import type { ToolEntry } from "../../../state/transcript";

export interface ToolStatus {
  text: MessageKey;
  tone: "neutral" | "ok" | "warn" | "danger" | "info";
  icon: "busy" | "ok" | "wait" | "stop" | "unknown" | "bad";
}

const OUTCOMES: Record<ToolOutcome, ToolStatus> = {
  ok: { text: "outcome.ok", tone: "ok", icon: "ok" },
  error: { text: "outcome.error", tone: "danger", icon: "bad" },
  limit: { text: "outcome.limit", tone: "warn", icon: "stop" },
  denied: { text: "outcome.denied", tone: "danger", icon: "stop" },
  rejected: { text: "outcome.rejected", tone: "neutral", icon: "stop" },
  expired: { text: "outcome.expired", tone: "warn", icon: "stop" },
  cancelled: { text: "outcome.cancelled", tone: "neutral", icon: "stop" },
  unknown: { text: "outcome.unknown", tone: "warn", icon: "unknown" },
};

/** Returns the error for the details of a failed call. An error is already shown below the card, unless another entry reports it. */
export function reasonOf(
  { outcome, result }: Pick<ToolEntry, "outcome" | "result">,
  reported = false,
): AgentError | null {
  const isShown = outcome === "error" && !reported;
  return outcome === "ok" || isShown ? null : (result?.error ?? null);
}

export function statusOf(entry: Pick<ToolEntry, "outcome" | "approvalStatus">): ToolStatus {
  if (entry.outcome) {
    const signed =
      entry.approvalStatus === "done" ||
      entry.approvalStatus === "approved" ||
      entry.approvalStatus === "executing";
    if (entry.outcome === "ok" && signed)
      return { text: "approval_status.done", tone: "ok", icon: "ok" };
    return OUTCOMES[entry.outcome];
  }
  switch (entry.approvalStatus) {
    case "pending":
      return { text: "approval_status.pending", tone: "warn", icon: "wait" };
    case "rejected":
      return OUTCOMES.rejected;
    case "expired":
      return OUTCOMES.expired;
    case "cancelled":
      return OUTCOMES.cancelled;
    case "superseded":
      return { text: "approval_status.superseded", tone: "neutral", icon: "stop" };
    case "failed":
      return { text: "approval_status.failed", tone: "danger", icon: "bad" };
    case "done":
      return { text: "approval_status.done", tone: "ok", icon: "ok" };
    case "approved":
    case "executing":
    case null:
      return { text: "tool.running", tone: "info", icon: "busy" };
  }
}
