// Sessions of the in-memory host.
import { cartApproval } from "./approvals";
import { addItem, answerBody, longText, runTurn, scripts } from "./turns";
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
  const all = [...world.sessions.values()];
  fillPacing(world, all[0]!);
  fillShop(world, all[1]!);
  fillTroubles(world, all[2]!);
  fillLong(world, all[3]!);
  if (world.scenario === "many") {
    for (let index = 0; index < 180; index++) {
      const id = `desktop:m${index}`;
      const at = new Date(Date.now() - (index + 5) * 9_000_000).toISOString();
      world.sessions.set(id, { summary: { id, title: `Conversation number ${index + 1}`, created_at: at, updated_at: at, running: false, waiting_approvals: 0 }, items: [], queue: [], running: null });
    }
  }
}

function fillPacing(world: World, session: FakeSession): void {
  const turn = world.id("turn");
  const call = world.id("call");
  const long = world.scenario === "long";
  addItem(world, session, turn, { kind: "user_message", text: session.summary.title });
  addItem(world, session, turn, { kind: "tool_call", call, tool: "analyze_portfolio_pacing", title: "Analyze portfolio pacing", effect: "read_only", arguments: { account_id: "17" } });
  addItem(world, session, turn, { kind: "tool_result", call, tool: "analyze_portfolio_pacing", outcome: "ok", summary: "Slightly behind: 27 903.12 of 30 000.00 EUR", data: scripts.pacingResult("behind", long), view: "pacing", duration_ms: 38 });
  addItem(world, session, turn, answerBody(scripts.pacingAnswer, [{ label: "Which campaigns are behind?", message: "Which campaigns of account 17 are behind?" }, { label: "Last week", message: "How was account 17 last week?" }]));
}

function fillShop(world: World, session: FakeSession): void {
  const turn = world.id("turn");
  const [search, get, add] = [world.id("call"), world.id("call"), world.id("call")];
  addItem(world, session, turn, { kind: "user_message", text: "show me black trail shoes" });
  addItem(world, session, turn, { kind: "tool_call", call: search, tool: "product.search", title: "Search products", effect: "read_only", arguments: { query: "black trail shoes" } });
  addItem(world, session, turn, { kind: "tool_result", call: search, tool: "product.search", outcome: "ok", summary: "7 of 23 products", data: { items: scripts.products, totalCount: 23 }, view: "product_cards", duration_ms: 12 });
  addItem(world, session, turn, { kind: "tool_call", call: get, tool: "product.get", title: "Product details", effect: "read_only", arguments: { partNo: "TS-1040" } });
  addItem(world, session, turn, { kind: "tool_result", call: get, tool: "product.get", outcome: "ok", summary: "Fell Runner trail shoe", data: scripts.product, view: "product", duration_ms: 9 });
  addItem(world, session, turn, answerBody("The **Fell Runner** comes in four sizes. Which one?", [{ label: "Size 42", message: "Size 42, two of them" }, { label: "Size 43", message: "Size 43, two of them" }]));
  const second = world.id("turn");
  addItem(world, session, second, { kind: "user_message", text: "two in size 42 please" });
  addItem(world, session, second, { kind: "tool_call", call: add, tool: "cart.addItem", title: "Add to cart", effect: "write", arguments: { partNo: "TS-1040-BLK-42", quantity: 2 } });
  if (world.options.has("pending")) {
    const approval = cartApproval(world, session.summary.id, second, add);
    world.approvals.set(approval.id, approval);
    session.summary.waiting_approvals = 1;
    session.running = { turn: second, cancelled: false };
    session.summary.running = true;
    return;
  }
  addItem(world, session, second, { kind: "approval", approval: "a-1", call: add, tool: "cart.addItem", status: "done", reason: null });
  addItem(world, session, second, { kind: "tool_result", call: add, tool: "cart.addItem", outcome: "ok", summary: "Cart: 4 items, 4 846.00 SEK", data: scripts.cart, view: "cart", duration_ms: 41 });
  addItem(world, session, second, answerBody("Done: two **Fell Runner** shoes (black, 42) are in your cart."));
}

function fillTroubles(world: World, session: FakeSession): void {
  const turn = world.id("turn");
  addItem(world, session, turn, { kind: "user_message", text: "Do everything that can go wrong.\nOn two lines, with averyveryverylongwordwithoutanyspacesinitsothatithastobebrokensomewhereorelsethelayoutbreaksandsomethingisclipped." });
  const ends = [
    ["error", "The shop did not answer within 10 seconds."], ["limit", "Three calls are allowed per round."], ["denied", "Denied: rule “no purchases on Sundays”."],
    ["rejected", "You said no."], ["expired", "Nobody decided within 10 minutes."], ["cancelled", "Stopped."], ["unknown", "The app stopped before the outcome was known."],
  ] as const;
  for (const [outcome, summary] of ends) {
    const call = world.id("call");
    const write = ["rejected", "expired", "unknown", "denied"].includes(outcome);
    const tool = write ? "cart.addItem" : "product.search";
    addItem(world, session, turn, { kind: "tool_call", call, tool, title: write ? "Add to cart" : "Search products", effect: write ? "write" : "read_only", arguments: { query: "x" } });
    if (outcome === "rejected" || outcome === "expired") addItem(world, session, turn, { kind: "approval", approval: `a-${call}`, call, tool, status: outcome, reason: outcome === "rejected" ? "The wrong size." : null });
    addItem(world, session, turn, { kind: "tool_result", call, tool, outcome, summary, data: null, error: outcome === "error" ? failure("tool_timeout", summary, "Try again in a moment. If it stays like this, look at the server in Tools.", "timeout") : null, view: "plain", duration_ms: 10_000 });
  }
  addItem(world, session, turn, { kind: "notice", level: "warning", code: "turn_interrupted", text: "The app stopped during this answer." });
  const text = "## A heading\n\nText with `code`, **bold** and a table:\n\n| Campaign | Spend | Share |\n|---|---|---|\n| Autumn trail | 12 003.50 | 41 % |\n| Winter boots | 8 110.00 | 28 % |\n\n```json\n{ \"partNo\": \"TS-1040-BLK-42\", \"quantity\": 2, \"aLongKeyToMakeThisLineWiderThanTheWindowSoThatItScrolls\": true }\n```";
  const body = answerBody(text);
  if (body.kind === "assistant_text") addItem(world, session, turn, { ...body, partial: true });
  addItem(world, session, turn, { kind: "notice", level: "error", code: "llm_error", text: "The model sent nothing for 60 seconds." });
}

function fillLong(world: World, session: FakeSession): void {
  for (let index = 0; index < 400; index++) {
    const turn = world.id("turn");
    addItem(world, session, turn, { kind: "user_message", text: `Question ${index + 1}: what can you do?` });
    addItem(world, session, turn, answerBody(longText(1 + (index % 4))));
  }
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
    const cart = items.findLast(({ body }) => body.kind === "tool_result" && body.view === "cart" && body.outcome === "ok") ?? null;
    return { summary, cart, items: page, has_more: items.length > page.length, running_turn: running?.turn ?? null, queue, approvals: [...world.approvals.values()].filter((approval) => approval.session === session) };
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
  turn_start: ({ session, text }, world) => {
    if (world.scenario === "error") throw failure("agent_disabled", "The assistant is switched off by AGENT_ENABLED.", "Remove the variable and start the app again.", "agent_disabled");
    let known = session ? sessionOf(world, session) : null;
    if (!known) {
      const id = `desktop:${world.id("new")}`;
      known = { summary: { id, title: text.slice(0, 80), created_at: world.now(), updated_at: world.now(), running: false, waiting_approvals: 0 }, items: [], queue: [], running: null };
      world.sessions.set(id, known);
      world.push({ push: "session", summary: known.summary });
    }
    const turn = world.id("turn");
    const queued = known.running !== null;
    if (queued) {
      known.queue.push({ turn, text });
      world.push({ push: "queue", session: known.summary.id, queue: structuredClone(known.queue) });
    } else runTurn(world, known, turn, text);
    return { session: known.summary.id, turn, queued };
  },
  turn_cancel: ({ session, turn }, world) => {
    const known = sessionOf(world, session);
    if (known.running?.turn === turn) known.running.cancelled = true;
    known.queue = known.queue.filter((message) => message.turn !== turn);
    world.push({ push: "queue", session, queue: structuredClone(known.queue) });
    return {};
  },
};
