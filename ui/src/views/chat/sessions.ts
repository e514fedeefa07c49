// Groups the list of conversations by day. Pure.
import type { MessageKey } from "../../i18n/index.svelte";
import type { SessionSummary } from "../../platform/generated/SessionSummary";

export interface SessionGroup {
  label: MessageKey;
  sessions: SessionSummary[];
}

const DAY = 86_400_000;

export function groupByDay(sessions: readonly SessionSummary[], now: Date): SessionGroup[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const label = (at: number): MessageKey => {
    if (at >= today) return "sessions.today";
    if (at >= today - DAY) return "sessions.yesterday";
    return at >= today - 7 * DAY ? "sessions.week" : "sessions.earlier";
  };
  const groups: SessionGroup[] = [];
  for (const session of sessions) {
    const key = label(Date.parse(session.updated_at));
    const known = groups.find((group) => group.label === key);
    if (known) known.sessions.push(session);
    else groups.push({ label: key, sessions: [session] });
  }
  return groups;
}
