// Answers of the in-memory host: a scripted turn per kind of question, streamed as the real host does.
import type { Block } from "../generated/Block";
import type { Item } from "../generated/Item";
import type { ItemBody } from "../generated/ItemBody";
import type { TurnEvent } from "../generated/TurnEvent";
import { cartApproval } from "./approvals";
import { pacingResult } from "./pacing";
import { cart, noMatch, otherProduct, product, products } from "./shop";
import { failure, type FakeSession, type World } from "./world";

type OmitEach<T, K extends string> = T extends unknown ? Omit<T, K> : never;
type EventBody = OmitEach<TurnEvent, "session" | "turn" | "n" | "at">;

const escape = (text: string): string => text.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[char]!);
const inline = (text: string): string => escape(text).replace(/\*\*(.+?)\*\*/g, "<strong>$1</strong>").replace(/`(.+?)`/g, "<code>$1</code>");

/** A small stand-in for the host's Markdown: paragraphs, lists, headings and code, one block each. */
export function blocksOf(text: string): Block[] {
  return text.split(/\n\n+/).map((part, index) => {
    if (part.startsWith("- ")) return { index, html: `<ul>${part.split("\n").map((line) => `<li>${inline(line.slice(2))}</li>`).join("")}</ul>` };
    if (part.startsWith("## ")) return { index, html: `<h4>${inline(part.slice(3))}</h4>` };
    if (part.startsWith("```")) return { index, html: `<pre class="md-code" tabindex="0"><code>${escape(part.replace(/```\w*\n?/g, ""))}</code></pre>` };
    if (part.startsWith("|")) {
      const rows = part.split("\n").filter((line) => !/^\|[-| ]+\|$/.test(line)).map((line) => line.slice(1, -1).split("|").map((cell) => inline(cell.trim())));
      return { index, html: `<div class="md-table" tabindex="0"><table><thead><tr>${rows[0]!.map((cell) => `<th>${cell}</th>`).join("")}</tr></thead><tbody>${rows.slice(1).map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</tbody></table></div>` };
    }
    return { index, html: `<p>${inline(part).replaceAll("\n", "<br>")}</p>` };
  });
}

export function addItem(world: World, session: FakeSession, turn: string, body: ItemBody, at = world.now()): Item {
  const item: Item = { id: world.id("item"), session: session.summary.id, turn, seq: (session.items.at(-1)?.seq ?? 0) + 1, created_at: at, body };
  session.items.push(item);
  return item;
}

export function answerBody(text: string, choices: { label: string; message: string }[] = []): ItemBody {
  return { kind: "assistant_text", text, blocks: blocksOf(text), model: "Offline model", choices, partial: false };
}

const pacingAnswer =
  "Account 17 is **slightly behind** its plan this month.\n\n- Spent: **27 903.12 EUR**, 93.0 % of what was due by now\n- Daily rate: 930.10 EUR against a target of 1 000.00 EUR\n- Projection: 27 903.00 EUR, 93.0 % of the budget\n\nWeekends stay under the target. At 1 163.20 EUR per day the budget would still be reached.";

class Turn {
  private n = 0;
  constructor(
    readonly world: World,
    readonly session: FakeSession,
    readonly turn: string,
  ) {}

  say(event: EventBody): void {
    const full = { session: this.session.summary.id, turn: this.turn, n: ++this.n, at: this.world.now(), ...event } as TurnEvent;
    this.world.push({ push: "turn", event: full });
  }
  item(body: ItemBody): void {
    this.say({ type: "item", item: addItem(this.world, this.session, this.turn, body) });
  }
  get stopped(): boolean {
    return this.session.running?.cancelled ?? true;
  }

  async tool(tool: string, title: string, args: unknown, view: "plain" | "product_cards" | "product" | "cart" | "pacing", summary: string, data: unknown, ms = 500): Promise<void> {
    const call = this.world.id("call");
    this.say({ type: "tool_start", call, tool, title, arguments: args });
    this.item({ kind: "tool_call", call, tool, title, effect: "read_only", arguments: args });
    await this.world.wait(ms);
    this.say({ type: "tool_end", call, tool, outcome: "ok", summary });
    this.item({ kind: "tool_result", call, tool, outcome: "ok", summary, data, view, duration_ms: ms });
  }

  async stream(text: string, choices: { label: string; message: string }[] = [], per = 3): Promise<void> {
    const words = text.split(/(?<= )/);
    let shown = "";
    let known: Block[] = [];
    for (let at = 0; at < words.length && !this.stopped; at += per) {
      shown += words.slice(at, at + per).join("");
      const blocks = blocksOf(shown);
      const changed = blocks.filter((block) => known[block.index]?.html !== block.html);
      this.say({ type: "blocks", patch: { blocks: changed, count: blocks.length, append: "" } });
      known = blocks;
      await this.world.wait(30);
    }
    const body = answerBody(this.stopped ? shown.trim() : text, choices);
    this.item(body.kind === "assistant_text" ? { ...body, partial: this.stopped } : body);
  }

  async approve(): Promise<void> {
    const call = this.world.id("call");
    const args = { partNo: "TS-1040-BLK-42", quantity: 2 };
    this.say({ type: "tool_start", call, tool: "cart.addItem", title: "Add to cart", arguments: args });
    this.item({ kind: "tool_call", call, tool: "cart.addItem", title: "Add to cart", effect: "write", arguments: args });
    const approval = cartApproval(this.world, this.session.summary.id, this.turn, call);
    this.world.approvals.set(approval.id, approval);
    this.session.summary.waiting_approvals = 1;
    this.changed();
    this.say({ type: "status", stage: "waiting_for_approval" });
    this.say({ type: "approval_requested", approval });
    this.world.push({ push: "approvals", waiting: this.world.waiting() });
    const pending = (): boolean => this.world.approvals.get(approval.id)!.status === "pending";
    while (pending() && !this.stopped) await this.world.wait(100);
    const { status, reason } = this.world.approvals.get(approval.id)!;
    this.session.summary.waiting_approvals = 0;
    const ok = status === "done";
    this.say({ type: "approval_resolved", id: approval.id, status });
    this.item({ kind: "approval", approval: approval.id, call, tool: "cart.addItem", status, reason: reason ?? null });
    this.item({ kind: "tool_result", call, tool: "cart.addItem", outcome: ok ? "ok" : "rejected", summary: ok ? "Cart: 3 items, 4 846.00 SEK" : "Not done", data: ok ? cart : null, view: "cart", duration_ms: 41 });
    if (!this.stopped) await this.stream(ok ? "Done: two **Fell Runner** shoes (black, 42) are in your cart." : "All right, I left the cart as it was.");
  }

  changed(): void {
    this.session.summary = { ...this.session.summary, updated_at: this.world.now(), running: this.session.running !== null };
    this.world.push({ push: "session", summary: this.session.summary });
  }

  async run(text: string): Promise<void> {
    this.session.running = { turn: this.turn, cancelled: false };
    this.changed();
    this.item({ kind: "user_message", text });
    this.say({ type: "status", stage: "thinking" });
    await this.world.wait(350);
    if (text.includes("@")) this.item({ kind: "redaction", level: "basic", counts: [{ kind: "email", count: 1 }] });
    const lower = text.toLowerCase();
    if (/summar|sammanfatt/.test(lower)) this.item({ kind: "summary", text: "The user compares trail shoes.\nThey wear size 42 and prefer black.", messages: 12, method: "llm" });
    let failed: ReturnType<typeof failure> | null = null;
    if (/fail|error|fel/.test(lower)) failed = failure("llm_error", "The model sent nothing for 60 seconds.", "Check the connection, then ask again. A smaller question may help.", "idle_timeout");
    else if (/compare|jämför/.test(lower)) {
      for (const one of [product, otherProduct]) await this.tool("product.get", "Product details", { partNo: one.partNo }, "product", one.name ?? "", one, 50);
      await this.stream("The **Fell Runner** is lighter; the **Ridge Line** costs less.");
    } else if (/unicorn|enhörning/.test(lower)) {
      await this.tool("product.search", "Search products", { query: "purple unicorn saddle" }, "product_cards", "0 products", { items: [], totalCount: 0, refinements: noMatch });
      await this.stream("I found nothing in the shop for “purple unicorn saddle”.");
    } else if (/add|lägg/.test(lower)) await this.approve();
    else if (/shoe|sko/.test(lower)) {
      await this.tool("product.search", "Search products", { query: "black trail shoes", pageSize: 10 }, "product_cards", "7 products for “black trail shoes”", { items: products, totalCount: 23 });
      await this.stream("I found seven black trail shoes; the **Fell Runner** is in stock in most sizes. Which size do you wear?", [41, 42, 43].map((size) => ({ label: `Size ${size}`, message: `Add the Fell Runner in size ${size}` })));
    } else if (/ts-|show me|visa/.test(lower)) await this.tool("product.get", "Product details", { partNo: "TS-1040" }, "product", "Fell Runner trail shoe", product).then(() => this.stream("Here it is, with its sizes."));
    else if (/cart|varukorg/.test(lower)) await this.tool("cart.get", "Show cart", {}, "cart", "3 items, 4 846.00 SEK", cart).then(() => this.stream("You have three items in your cart."));
    else if (/long|lång/.test(lower)) await this.stream(longText(Number(/\d+/.exec(lower)?.[0] ?? 400)), [], 4);
    else await this.tool("analyze_portfolio_pacing", "Analyze portfolio pacing", { account_id: "17" }, "pacing", "Slightly behind: 27 903.12 of 30 000.00 EUR", pacingResult("behind", this.world.scenario === "long")).then(() => this.stream(pacingAnswer));
    const cancelled = this.stopped;
    if (failed) this.say({ type: "error", error: failed });
    if (cancelled) this.item({ kind: "notice", level: "info", code: "turn_cancelled", text: "You stopped this answer." });
    this.session.running = null;
    this.say({ type: "final", status: failed ? "error" : cancelled ? "cancelled" : "ok", text: "", error: failed, usage: { input_tokens: 0, output_tokens: 0, model_calls: 1 } });
    this.changed();
    const next = this.session.queue.shift();
    if (next) {
      this.world.push({ push: "queue", session: this.session.summary.id, queue: this.session.queue });
      void new Turn(this.world, this.session, next.turn).run(next.text);
    }
  }
}

export function runTurn(world: World, session: FakeSession, turn: string, text: string): void {
  void new Turn(world, session, turn).run(text);
}

export function longText(paragraphs: number): string {
  return Array.from({ length: paragraphs }, (_, index) => (index % 9 === 8 ? "- first point\n- second point with `code`\n- third point" : `Paragraph ${index + 1} goes on for a while about **spend** and targets, so that there is enough text to fill a few lines of the window and to see how it wraps.`)).join("\n\n");
}

export const scripts = { pacingAnswer, pacingResult, products, product, cart };
