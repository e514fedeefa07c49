// Groups the list of conversations: pinned ones, then by day. Pure.
import type { MessageKey } from "../../i18n/index.svelte";
import type { SessionSummary } from "../../platform/generated/SessionSummary";

export interface SessionGroup {
  label: MessageKey;
  sessions: SessionSummary[];
}

const DAY = 86_400_000;

/** Groups conversations, which are in the order of the list. */
export function groupSessions(sessions: readonly SessionSummary[], now: Date): SessionGroup[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const label = ({ pinned, updated_at }: SessionSummary): MessageKey => {
    if (pinned) return "sessions.pinned";
    const at = Date.parse(updated_at);
    if (at >= today) return "sessions.today";
    if (at >= today - DAY) return "sessions.yesterday";
    return at >= today - 7 * DAY ? "sessions.week" : "sessions.earlier";
  };
  const groups: SessionGroup[] = [];
  for (const session of sessions) {
    const key = label(session);
    const known = groups.find((group) => group.label === key);
    if (known) known.sessions.push(session);
    else groups.push({ label: key, sessions: [session] });
  }
  return groups;
}
