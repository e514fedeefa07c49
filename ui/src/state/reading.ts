// Reads stored conversations from the host.
import { call } from "../platform";
import type { SessionView } from "../platform/generated/SessionView";

/** Older items are read in pages of this many to reach a message far above. */
export const LARGE_PAGE = 500;

/** Reads a conversation with its newest items, or with all items from `oldest` on. */
export async function readSession(session: string, oldest: number | null): Promise<SessionView> {
  const view = await call("session_open", { session });
  const items = [view.items];
  let before = view.items[0]?.seq;
  while (oldest !== null && view.has_more && before !== undefined && before > oldest) {
    const page = await call("items_page", { session, before, limit: LARGE_PAGE });
    items.unshift(page.items);
    view.versions = [...(page.versions ?? []), ...(view.versions ?? [])];
    view.has_more = page.has_more && page.items.length > 0;
    before = page.items[0]?.seq;
  }
  return { ...view, items: items.flat() };
}
