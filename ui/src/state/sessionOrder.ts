// The order of the list of conversations, which is that of the host: pinned ones first, then by the last change. Pure.
import type { SessionSummary } from "../platform/generated/SessionSummary";

type Ordered = Pick<SessionSummary, "pinned" | "updated_at">;

const isBefore = (one: Ordered, other: Ordered): boolean =>
  one.pinned === other.pinned ? one.updated_at >= other.updated_at : one.pinned;

/** Puts a conversation where it belongs in an ordered list, or replaces it there. */
export function insertSession<T extends Ordered & { id: string }>(list: T[], session: T): void {
  const at = list.findIndex((known) => known.id === session.id);
  if (at >= 0) list.splice(at, 1);
  const place = list.findIndex((known) => isBefore(session, known));
  list.splice(place < 0 ? list.length : place, 0, session);
}

/** Returns the conversation that was changed last. */
export function newestOf<T extends Ordered>(list: readonly T[]): T | null {
  return list.reduce<T | null>(
    (newest, one) => (newest === null || one.updated_at > newest.updated_at ? one : newest),
    null,
  );
}
