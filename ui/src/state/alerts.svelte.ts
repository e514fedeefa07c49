// The alerts of the profile and their rules, for their page and for the count in the rail. The host tells when they change.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { Alert } from "../platform/generated/Alert";
import type { AlertRule } from "../platform/generated/AlertRule";
import type { AlertRuleContent } from "../platform/generated/AlertRuleContent";
import type { AlertRuleView } from "../platform/generated/AlertRuleView";
import type { AlertsResponse } from "../platform/generated/AlertsResponse";
import type { Text } from "../platform/generated/Text";

export class Alerts {
  /** All alerts, open ones first; null before they are read. */
  list = $state.raw<readonly Alert[] | null>(null);
  /** The number of alerts that nobody marked as seen. */
  unseen = $state(0);
  /** All rules by name; null before they are read. */
  rules = $state.raw<readonly AlertRuleView[] | null>(null);
  /** The files of rules that cannot be read. */
  faults = $state.raw<readonly Text[]>([]);
  error = $state.raw<AgentError | null>(null);
  /** The rule that was deleted last, until it is brought back or the person has read it. */
  deleted = $state.raw<AlertRule | null>(null);

  /** Follows the number of unseen alerts. Returns a function that stops this. */
  followCount(): () => void {
    void this.read();
    return platform().onPush((push) => {
      if (push.push === "alerts") this.unseen = push.unseen;
      if (push.push === "lagged") void this.read();
    });
  }

  /** Reads alerts and rules now and whenever they may have changed. Returns a function that stops this. */
  follow(): () => void {
    const read = (): void => void this.readAll();
    read();
    addEventListener("focus", read);
    const stop = platform().onPush((push) => {
      if (push.push === "alerts" || push.push === "lagged") read();
    });
    return () => {
      removeEventListener("focus", read);
      stop();
    };
  }

  async read(): Promise<void> {
    await this.#try(async () => this.#take(await call("alerts_list", {})));
  }

  async readAll(): Promise<void> {
    await this.#try(async () => {
      this.#take(await call("alerts_list", {}));
      await this.#readRules();
    });
  }

  /** Checks the rules now. */
  async check(): Promise<void> {
    await this.#try(async () => {
      this.#take(await call("alerts_check", {}));
      await this.#readRules();
    });
  }

  /** Marks alerts as seen; all if none is named. */
  async see(ids: readonly string[]): Promise<void> {
    await this.#try(async () => this.#take(await call("alert_seen", { ids: [...ids] })));
  }

  /** Makes a rule, or changes the one that was shown. Fails if the host refuses it. */
  async save(content: AlertRuleContent, shown: AlertRule | null): Promise<void> {
    const place = shown ? { id: shown.id, revision: shown.revision } : { revision: 0 };
    await call("alert_rule_save", { ...place, content });
    await this.check();
  }

  async remove({ id, revision }: AlertRule): Promise<void> {
    await this.#try(async () => {
      try {
        this.deleted = await call("alert_rule_remove", { id, revision });
      } finally {
        // A rule that another window changed is shown as it is now, with the error.
        this.#take(await call("alerts_list", {}));
        await this.#readRules();
      }
    });
  }

  /** Makes the rule again that was deleted last. */
  async restore(): Promise<void> {
    const { deleted } = this;
    if (!deleted) return;
    await this.#try(async () => {
      await this.save(deleted.content, null);
      this.deleted = null;
    });
  }

  async #readRules(): Promise<void> {
    const { rules, faults } = await call("alert_rules", {});
    [this.rules, this.faults] = [rules, faults];
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  #take({ alerts, unseen }: AlertsResponse): void {
    [this.list, this.unseen] = [alerts, unseen];
  }
}

export const alerts = new Alerts();
