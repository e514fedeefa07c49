// The rules of the policy while they are edited: what the file holds, the draft, how the host reads it, and its way to the approval window.
import { t } from "../../../i18n/index.svelte";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { PolicyPreview } from "../../../platform/generated/PolicyPreview";
import type { PolicyView } from "../../../platform/generated/PolicyView";
import { freeId, inOrder, readFile, writeFile, type FileDraft, type RuleDraft } from "./draft";

const NOTHING: FileDraft = { rules: [], others: [] };

export class RuleEditor {
  /** The rules in force; null before they are read. */
  view = $state.raw<PolicyView | null>(null);
  file = $state.raw<FileDraft>(NOTHING);
  /** How the host reads the draft; null before it has answered. */
  preview = $state.raw<PolicyPreview | null>(null);
  error = $state.raw<AgentError | null>(null);
  isSaving = $state(false);
  /** The last change in words. */
  said = $state("");
  /** The text that the draft had when it was read. */
  #stored = $state("");
  #asked = 0;

  readonly text = $derived(writeFile(this.file));
  /** Whether the draft differs from the file. */
  readonly isChanged = $derived(this.view !== null && this.text !== this.#stored);
  /** Whether the draft was refused because the file has changed since it was read. */
  readonly isOutdated = $derived(this.error?.details["reason"] === "rules_changed");
  readonly ordered = $derived(inOrder(this.file.rules));

  /** Reads the rules in force. They replace the draft. */
  async read(): Promise<void> {
    try {
      this.#take(await call("policy_get", {}));
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  #take(view: PolicyView): void {
    this.view = view;
    this.file = readFile(view.text);
    this.#stored = writeFile(this.file);
    this.#asked++;
    this.preview = { faults: [], idle: view.idle, look_alikes: [] };
  }

  /** Adds a rule, or replaces the one with its key. A rule without an id gets one. */
  put(rule: RuleDraft): void {
    const others = this.file.rules.filter(({ key }) => key !== rule.key);
    const id =
      rule.id.trim() ||
      freeId(
        rule,
        others.map((other) => other.id),
      );
    const named = { ...rule, id };
    const isKnown = others.length < this.file.rules.length;
    const rules = isKnown
      ? this.file.rules.map((other) => (other.key === rule.key ? named : other))
      : [...this.file.rules, named];
    this.#change(rules, t(isKnown ? "rule_list.changed" : "rule_list.added", { id }));
  }

  remove(rule: RuleDraft): void {
    const rules = this.file.rules.filter(({ key }) => key !== rule.key);
    this.#change(rules, t("rule_list.removed", { id: rule.id }));
  }

  /** The rule that a rule changes places with when it is moved, which has the same effect. */
  neighbour(rule: RuleDraft, by: 1 | -1): RuleDraft | undefined {
    const same = this.file.rules.filter(({ action }) => action === rule.action);
    return same[same.findIndex(({ key }) => key === rule.key) + by];
  }

  move(rule: RuleDraft, by: 1 | -1): void {
    const other = this.neighbour(rule, by);
    if (!other) return;
    const places = new Map([
      [rule.key, other],
      [other.key, rule],
    ]);
    const rules = this.file.rules.map((one) => places.get(one.key) ?? one);
    this.#change(rules, t("rule_list.moved", { id: rule.id }));
  }

  /** Leaves the draft, and shows the rules in force. */
  discard(): void {
    if (this.view) this.#take(this.view);
    this.said = t("rule_list.discarded");
    this.error = null;
  }

  #change(rules: RuleDraft[], said: string): void {
    this.file = { ...this.file, rules };
    this.said = said;
    this.error = null;
    void this.check();
  }

  /** Asks the host how it reads the draft. */
  async check(): Promise<void> {
    const asked = ++this.#asked;
    this.preview = null;
    try {
      const preview = await call("policy_preview", { rules: this.text });
      // An answer about an older draft says nothing about this one.
      if (asked === this.#asked) this.preview = preview;
    } catch (cause) {
      if (asked === this.#asked) this.error = asAgentError(cause);
    }
  }

  /** The rule of the draft that decides instead of a rule; `null` if it has expired, and `undefined` if the rule may decide. */
  decidedBy(rule: RuleDraft): RuleDraft | null | undefined {
    if (!this.preview || this.preview.faults.length > 0) return undefined;
    const at = this.file.rules.findIndex(({ key }) => key === rule.key);
    const idle = this.preview.idle.find((one) => one.rule === at);
    if (!idle) return undefined;
    return idle.decided_by == null ? null : this.file.rules[idle.decided_by];
  }

  /** Proposes the draft. It is stored after a person has confirmed it in the approval window. */
  async save(): Promise<void> {
    if (this.isSaving || !this.view) return;
    this.isSaving = true;
    this.error = null;
    this.said = t("rule_list.waits");
    try {
      const { fingerprint } = this.view;
      this.#take(await call("policy_rules_set", { rules: this.text, fingerprint }));
      this.said = t("rule_list.saved");
    } catch (cause) {
      this.error = asAgentError(cause);
      this.said = "";
    } finally {
      this.isSaving = false;
    }
  }
}

/** The rules of the window. A draft is kept while other pages are open. */
export const rules = new RuleEditor();
