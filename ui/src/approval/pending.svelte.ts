// The pending actions of the approval window, and which one is shown. Read from the host when
// necessary, and decided one by one.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { Approval } from "../platform/generated/Approval";
import type { Decision } from "../platform/generated/Decision";

class Pending {
  list = $state<Approval[]>([]);
  /** Actions whose time ran out, newest first. */
  expired = $state<Approval[]>([]);
  shownId = $state<string | null>(null);
  loaded = $state(false);
  /** Why the last decision was not taken. */
  error = $state<AgentError | null>(null);
  /** Why the list cannot be read. */
  unread = $state<AgentError | null>(null);
  deciding = $state(false);
  /** Whether the open form has other values than the action that is shown. */
  isEdited = $state(false);
  /** The actions of the question whether to reject all; null while it is not asked. An action that arrives later is not rejected unseen. */
  rejecting = $state<Approval[] | null>(null);
  /** The action that was edited or asked about again. The action that replaces it is shown next. */
  #before: string | null = null;
  shown = $derived(
    this.list.find((approval) => approval.id === this.shownId) ?? this.list[0] ?? null,
  );

  start(): void {
    platform().onPush((push) => {
      if (push.push === "approvals" || push.push === "lagged") void this.read();
    });
    // A push may have been missed while the computer slept or other windows covered this one.
    addEventListener("focus", () => void this.read());
    document.addEventListener(
      "visibilitychange",
      () => document.visibilityState === "visible" && void this.read(),
    );
    void this.read();
  }

  async read(): Promise<void> {
    try {
      const { approvals, expired = [] } = await call("approval_pending", {});
      this.list = approvals;
      this.expired = expired;
      this.unread = null;
      this.rejecting = stillPending(this.rejecting, approvals);
      const next = this.list.find(
        (approval) => approval.replaces && approval.replaces === this.#before,
      );
      if (next) {
        this.shownId = next.id;
        this.#before = null;
      }
      if (!this.list.some((approval) => approval.id === this.shownId))
        this.shownId = this.list[0]?.id ?? null;
    } catch (cause) {
      this.unread = asAgentError(cause);
    } finally {
      this.loaded = true;
    }
  }

  /** Approves, rejects or edits the action that is shown. Returns false if the host refused or another decision is in progress. */
  async decide(approval: Approval, decision: Decision): Promise<boolean> {
    if (this.deciding) return false;
    this.deciding = true;
    this.error = null;
    try {
      if (decision.decision === "edit") this.#before = approval.id;
      await call("approval_decide", { id: approval.id, hash: approval.hash, decision });
      if (decision.decision === "edit") await this.#replaced(approval.id);
      return true;
    } catch (cause) {
      this.error = asAgentError(cause);
      return false;
    } finally {
      // Until the list is read again, the window shows the decided action with disabled buttons.
      await this.read();
      this.deciding = false;
    }
  }

  /** Waits for the action that replaces an edited action, so that it is shown next. The turn proposes it a moment later. */
  async #replaced(id: string): Promise<void> {
    for (let tries = 0; tries < 40; tries += 1) {
      const { approvals } = await call("approval_pending", {});
      if (approvals.some((approval) => approval.replaces === id)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Proposes an expired action again. The new proposal is shown. */
  async askAgain(expired: Approval): Promise<void> {
    if (this.deciding) return;
    this.deciding = true;
    this.error = null;
    this.#before = expired.id;
    try {
      await call("approval_ask_again", { id: expired.id });
    } catch (cause) {
      this.error = asAgentError(cause);
    }
    await this.read();
    this.deciding = false;
  }

  /** Rejects the actions of the question, each by its own hash. An action whose rejection fails stays in the list. */
  async rejectAll(): Promise<void> {
    if (this.deciding) return;
    this.deciding = true;
    this.error = null;
    for (const { id, hash } of this.rejecting ?? []) {
      try {
        await call("approval_decide", { id, hash, decision: { decision: "reject" } });
      } catch (cause) {
        this.error = asAgentError(cause);
      }
    }
    this.rejecting = null;
    await this.read();
    this.deciding = false;
  }
}

/** Returns those of the asked actions that still wait; null if none does. An action can be decided elsewhere or expire meanwhile. */
export function stillPending(
  asked: readonly Approval[] | null,
  list: readonly Approval[],
): Approval[] | null {
  const left = (asked ?? []).filter(({ id, hash }) =>
    list.some((approval) => approval.id === id && approval.hash === hash),
  );
  return left.length > 0 ? left : null;
}

/** Returns a distinct name for each action: what the action would do, or else its tool and its main value. Equal names get a number. */
export function distinctNames(
  list: readonly Approval[],
  title: (tool: string) => string,
): string[] {
  const names = list.map((approval) => {
    if (approval.preview) return short(approval.preview.summary);
    const value = mainValue(approval.arguments);
    return value
      ? `${short(title(approval.tool_title))} · ${short(value)}`
      : short(title(approval.tool_title));
  });
  return names.map((name, index) =>
    names.filter((other) => other === name).length > 1
      ? `${name} (${names.slice(0, index + 1).filter((other) => other === name).length})`
      : name,
  );
}

const short = (text: string): string =>
  text.length > 40 ? `${text.slice(0, 39).trimEnd()}…` : text;

/** Returns the first text among the arguments, or else the first number. */
function mainValue(canonical: string): string {
  let found = "";
  const look = (value: unknown): boolean => {
    if (typeof value === "string" && value.trim()) return ((found = value.trim()), true);
    if (typeof value === "number" && !found) found = String(value);
    return typeof value === "object" && value !== null && Object.values(value).some(look);
  };
  try {
    look(JSON.parse(canonical));
  } catch {
    return "";
  }
  return found;
}

export const pending = new Pending();
