// The pending actions of the approval window, and which one is shown. Read from the host when
// necessary, and decided one by one.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { Approval } from "../platform/generated/Approval";
import type { Decision } from "../platform/generated/Decision";

class Pending {
  list = $state<Approval[]>([]);
  shownId = $state<string | null>(null);
  loaded = $state(false);
  /** Why the last decision was not taken. */
  error = $state<AgentError | null>(null);
  /** Why the list cannot be read. */
  unread = $state<AgentError | null>(null);
  deciding = $state(false);
  shown = $derived(
    this.list.find((approval) => approval.id === this.shownId) ?? this.list[0] ?? null,
  );

  start(): void {
    platform().onPush((push) => {
      if (push.push === "approvals" || push.push === "lagged") void this.read();
    });
    // After sleep, or behind other windows, a push may have been missed.
    addEventListener("focus", () => void this.read());
    document.addEventListener(
      "visibilitychange",
      () => document.visibilityState === "visible" && void this.read(),
    );
    void this.read();
  }

  async read(): Promise<void> {
    try {
      this.list = (await call("approval_pending", {})).approvals;
      this.unread = null;
      if (!this.list.some((approval) => approval.id === this.shownId))
        this.shownId = this.list[0]?.id ?? null;
    } catch (cause) {
      this.unread = asAgentError(cause);
    } finally {
      this.loaded = true;
    }
  }

  /** Decides the shown action; false when the host refused. */
  async decide(approval: Approval, decision: Decision): Promise<boolean> {
    if (this.deciding) return false;
    this.deciding = true;
    this.error = null;
    try {
      await call("approval_decide", { id: approval.id, hash: approval.hash, decision });
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
}

export const pending = new Pending();
