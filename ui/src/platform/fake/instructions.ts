// Layers of instructions of the in-memory host.
import type { InstructionsResponse } from "../generated/InstructionsResponse";
import type { InstructionsView } from "../generated/InstructionsView";
import type { PromptPartView } from "../generated/PromptPartView";
import { failure, type Handlers } from "./world";

const pacing: InstructionsView = {
  tool: "analyze_portfolio_pacing",
  title: "Analyse portfolio pacing",
  state: "found",
  place: "/usr/lib/countersign/tools/campaign-portfolio-pacing/execution_instructions.md",
  problems: [],
  sections: [
    { title: "When the user asks about trends or recent days", keywords: ["trend", "last days", "average"], score: 1, chosen: true },
    { title: "When the user asks about budget status", keywords: ["budget", "spent"], score: 0, chosen: false },
  ],
  whole: false,
  characters: 1_840,
  last_used: "2026-11-20T11:58:00Z",
};
const missing: InstructionsView = { tool: "product.search", title: "Search products", state: "missing", problems: [], sections: [], whole: false, characters: 0 };
const unreadable: InstructionsView = { tool: "cart.get", title: "Show the cart", state: "error", problems: ["/home/ana/tools/shop/cart.get/execution_instructions.md: it is not UTF-8 text"], sections: [], whole: false, characters: 0 };

const parts: PromptPartView[] = [
  { part: "base", text: "You are Countersign, an assistant.\n\nYou are the Guardian.", cut: false },
  { part: "policy", text: "Every change waits for the user's approval, which the host asks for. Call the tool; do not ask in text first.", cut: false },
  { part: "toolkit", text: "# Available tools\n\n## analyze_portfolio_pacing\nPurpose: Spend against target for an account.", cut: false },
  { part: "entity_defaults", text: "# Defaults\n- account_id: 17 (Northwind Outdoor)", cut: false },
  { part: "supervisor_instruction", text: "<supervisor_instruction>\nReport the pace of account 17.\n</supervisor_instruction>", cut: false },
  { part: "date_time", text: "The user's local time is Friday 2026-11-20 13:00 +01:00 (Europe/Stockholm).", cut: false },
];

const all: InstructionsResponse = {
  agents: [
    { id: "guardian", name: "Guardian", summary: "Watches a portfolio of campaigns: spend against budget, pace, risk.", pack: "campaign-portfolio-pacing", tools: ["analyze_portfolio_pacing"], defaults: [{ parameter: "account_id", entity: "account", value: "17" }, { parameter: "advertiser_filter", entity: "advertiser" }], rounds: 6, calls_per_round: 3, enabled: true },
    { id: "shopper", name: "Shopper", summary: "Finds products, explains variants and stock, and prepares changes of the cart.", pack: "shop", tools: ["product.search", "cart.get"], defaults: [], rounds: 6, calls_per_round: 3, enabled: true },
  ],
  tools: [pacing, missing, unreadable],
  turns: [{ session: "s1", turn: "t1", at: "2026-11-20T11:58:00Z", agent: "Guardian", parts, instructions: [pacing] }],
};

export const instructionHandlers: Pick<Handlers, "instructions_list" | "prompt_preview"> = {
  instructions_list: (_params, world) => (world.scenario === "empty" ? { agents: [], tools: [], turns: [] } : all),
  prompt_preview: ({ agent, question }) => {
    if (agent && !all.agents.some((one) => one.id === agent)) throw failure("invalid_input", `The specialist ${agent} does not exist.`);
    return { parts, instructions: agent === "guardian" ? [{ view: pacing, text: `Guidance for reading results of analyze_portfolio_pacing.\n\n${question}` }] : [] };
  },
};
