// Groups found messages by conversation, and turns chosen days into moments. Pure.
import type { MessageHit } from "../../platform/generated/MessageHit";

export interface HitGroup {
  session: string;
  title: string;
  hits: MessageHit[];
}

/** Groups messages by conversation, in the order of the best message of each. */
export function byConversation(hits: readonly MessageHit[]): HitGroup[] {
  const groups = new Map<string, HitGroup>();
  for (const hit of hits) {
    const group = groups.get(hit.session);
    if (group) group.hits.push(hit);
    else groups.set(hit.session, { session: hit.session, title: hit.title, hits: [hit] });
  }
  return [...groups.values()];
}

/** Returns the first moment of a day of this computer, such as `2026-11-21`; null if the day is invalid. */
export function startOfDay(day: string): string | null {
  const date = new Date(`${day}T00:00:00`);
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(date.getTime())
    ? date.toISOString()
    : null;
}

/** Returns the first moment after a day. */
export function endOfDay(day: string): string | null {
  const begin = startOfDay(day);
  if (begin === null) return null;
  const date = new Date(begin);
  date.setDate(date.getDate() + 1);
  return date.toISOString();
}
