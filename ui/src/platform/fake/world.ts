// The state of the in-memory host: one object that the handlers of each area read and change. Development and tests only.
// `?fake=NAME` chooses a scenario: full (default), empty, first-run, error, failing (every read fails), slow (nothing answers),
// broken, long and word (names of 200 characters), many, approvals, forced, offline-keyring. `&pending` leaves a call waiting,
// `&model` connects a server, `&ask=NAMES` chooses the actions that wait (see `approvals.ts`).
import type { Approval } from "../generated/Approval";
import type { Item } from "../generated/Item";
import type { Push } from "../generated/Push";
import type { QueuedMessage } from "../generated/QueuedMessage";
import type { SessionSummary } from "../generated/SessionSummary";
import type { SettingsView } from "../generated/SettingsView";
import type { AgentError } from "../generated/AgentError";
import type { CommandName, Params, Response } from "../types";

export type Handlers = { [K in CommandName]: (params: Params<K>, world: World) => Response<K> | Promise<Response<K>> };

export interface FakeSession {
  summary: SessionSummary;
  items: Item[];
  queue: QueuedMessage[];
  running: { turn: string; cancelled: boolean } | null;
}

export class World {
  readonly pushes = new Set<(push: Push) => void>();
  readonly sessions = new Map<string, FakeSession>();
  readonly approvals = new Map<string, Approval>();
  settings!: SettingsView;
  private counter = 0;

  constructor(
    readonly scenario: string,
    readonly options: URLSearchParams,
  ) {}

  push(push: Push): void {
    const copy = structuredClone(push);
    this.pushes.forEach((listener) => listener(copy));
  }

  id(prefix: string): string {
    return `${prefix}-${String(++this.counter).padStart(4, "0")}`;
  }

  now(): string {
    return new Date().toISOString();
  }

  waiting(): number {
    return [...this.approvals.values()].filter((approval) => approval.status === "pending").length;
  }

  wait(ms: number): Promise<void> {
    return new Promise((done) => setTimeout(done, this.options.get("speed") === "0" ? 0 : ms));
  }
}

/** A failure as the real host words it. */
export function failure(code: AgentError["code"], message: string, hint?: string, reason?: string): AgentError {
  const details: Record<string, unknown> = {};
  if (hint) details["hint"] = hint;
  if (reason) details["reason"] = reason;
  return { contract_version: "1.0", code, message, retryable: true, details };
}

/** A hash-like text that is always the same for the same input. */
export function fakeHash(seed: string): string {
  let h = 2166136261;
  let out = "";
  for (let round = 0; out.length < 64; round++) {
    for (const char of `${seed}${round}`) h = Math.imul(h ^ char.charCodeAt(0), 16777619) >>> 0;
    out += h.toString(16).padStart(8, "0");
  }
  return out;
}
