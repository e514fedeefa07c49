// Sessions of the in-memory host.
import { failure, type FakeSession, type Handlers, type World } from "./world";

const titles = [
  "How is account 17 pacing this month?",
  "Black trail shoes",
  "Advertisers that are behind in account 23, with the projected shortfall for each of them until the end of the flight and a suggestion of which line items should get more",
  "What can you do?",
  "Weekly summary for Monday's meeting",
];

export function seedSessions(world: World): void {
  if (world.scenario === "empty" || world.scenario === "first-run") return;
  titles.forEach((title, index) => {
    const id = `desktop:${String(index + 1).padStart(4, "0")}`;
    const at = new Date(Date.now() - index * 5_400_000 - 120_000).toISOString();
    world.sessions.set(id, { summary: { id, title, created_at: at, updated_at: at, running: false, waiting_approvals: 0 }, items: [], queue: [], running: null });
  });
}

export function sessionOf(world: World, id: string): FakeSession {
  const session = world.sessions.get(id);
  if (!session) throw failure("invalid_input", "There is no such conversation.", "It may have been deleted. Choose another one from the list.", "session_not_found");
  return session;
}

type Area = "sessions_list" | "session_open" | "session_rename" | "session_delete" | "items_page" | "turn_start" | "turn_cancel";

export const sessionHandlers: Pick<Handlers, Area> = {
  sessions_list: ({ query, offset, limit }, world) => {
    const found = [...world.sessions.values()]
      .map((session) => session.summary)
      .filter((summary) => summary.title.toLowerCase().includes((query ?? "").toLowerCase()))
      .sort((a, b) => b.updated_at.localeCompare(a.updated_at));
    const page = found.slice(offset, offset + (limit || 50));
    return { sessions: page, has_more: found.length > offset + page.length };
  },
  session_open: ({ session }, world) => {
    const { summary, items, queue, running } = sessionOf(world, session);
    const page = items.slice(-60);
    return { summary, items: page, has_more: items.length > page.length, running_turn: running?.turn ?? null, queue, approvals: [...world.approvals.values()].filter((approval) => approval.session === session) };
  },
  session_rename: ({ session, title }, world) => {
    const known = sessionOf(world, session);
    known.summary = { ...known.summary, title };
    world.push({ push: "session", summary: known.summary });
    return {};
  },
  session_delete: ({ session }, world) => {
    world.sessions.delete(session);
    world.push({ push: "session_deleted", session });
    return {};
  },
  items_page: ({ session, before, limit }, world) => {
    const older = sessionOf(world, session).items.filter((item) => item.seq < before);
    const page = older.slice(-(limit || 60));
    return { items: page, has_more: older.length > page.length };
  },
  turn_start: () => {
    throw failure("internal_error", "Nothing answers yet.");
  },
  turn_cancel: () => ({}),
};
