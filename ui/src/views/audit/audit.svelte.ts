// The state of the audit view: the filter, the page of questions or of records that fits it, the open entry and record, and
// the last verification.
import { asAgentError, call, platform } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { AuditChoicesResponse } from "../../platform/generated/AuditChoicesResponse";
import type { AuditEntry } from "../../platform/generated/AuditEntry";
import type { AuditEntryParams } from "../../platform/generated/AuditEntryParams";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import type { VerifyReport } from "../../platform/generated/VerifyReport";
import { emptyChoice, filterOf, type Choice } from "./filter";

const RECORDS = 100;
const ENTRIES = 50;
/** The pause before an unfinished index is read again. */
const AGAIN_MS = 100;

export type Mode = "questions" | "records";

export class AuditState {
  mode = $state<Mode>("questions");
  choice = $state<Choice>(emptyChoice());
  choices = $state.raw<AuditChoicesResponse>({ tools: [], agents: [], decisions: [] });
  entries = $state.raw<AuditEntry[]>([]);
  records = $state.raw<AuditRecordView[]>([]);
  hasMore = $state(false);
  total = $state(0);
  /** The part of the log that is indexed; null once all of it is indexed. */
  indexed = $state<number | null>(null);
  /** Records that came after the list was read. */
  fresh = $state(0);
  loading = $state(false);
  loaded = $state(false);
  error = $state<AgentError | null>(null);
  /** The first record of the open entry, and its records so far. */
  openEntry = $state<number | null>(null);
  entryRecords = $state.raw<AuditRecordView[]>([]);
  entryHasMore = $state(false);
  openSeq = $state<number | null>(null);
  report = $state<VerifyReport | null>(null);
  /** The path of the verified folder, if the report is about one. */
  folder = $state<string | null>(null);
  verifying = $state(false);
  progress = $state<{ checked: number; total: number } | null>(null);
  said = $state<string | null>(null);
  #single = $state.raw<AuditRecordView | null>(null);
  open = $derived(
    [...this.records, ...this.entryRecords, ...(this.#single ? [this.#single] : [])].find(
      (record) => record.seq === this.openSeq,
    ) ?? null,
  );
  /** Returns the text of the question that a record belongs to, if its record is loaded and is another one. */
  questionOf({ seq, turn }: AuditRecordView): string | null {
    if (!turn) return null;
    const asked = [...this.records, ...this.entryRecords].find(
      (one) => one.turn === turn && one.record_type === "run_started" && one.seq !== seq,
    );
    const text = asked?.revealed["input"];
    return typeof text === "string" ? text : null;
  }
  #asked = 0;
  #next: number | null = null;
  #stopped = false;

  start(): () => void {
    const off = platform().onPush((push) => {
      if (push.push === "audit" && this.loaded) this.fresh = Math.max(0, push.total - this.total);
      if (push.push === "audit_verification")
        this.progress = { checked: push.checked, total: push.total };
    });
    return () => {
      this.#stopped = true;
      off();
    };
  }

  async reload(): Promise<void> {
    this.openEntry = null;
    await this.#page(true);
    try {
      this.choices = await call("audit_choices", {});
    } catch {
      // The lists of names stay as they were. The list of records has already reported the error.
    }
  }

  more = (): Promise<void> => this.#page(false);

  async #page(isFirst: boolean): Promise<void> {
    const asked = ++this.#asked;
    this.loading = true;
    try {
      await (this.mode === "questions"
        ? this.#entries(asked, isFirst)
        : this.#records(asked, isFirst));
      if (asked !== this.#asked) return;
      if (isFirst) this.fresh = 0;
      this.error = null;
      this.loaded = true;
    } catch (cause) {
      if (asked === this.#asked) this.error = asAgentError(cause);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  async #entries(asked: number, isFirst: boolean): Promise<void> {
    const before = isFirst ? null : this.#next;
    for (;;) {
      const page = await call("audit_entries", {
        filter: filterOf(this.choice),
        before,
        limit: ENTRIES,
        // Records without a question, such as changes of settings, are shown only in the list of all records or for a chosen event.
        asked: this.choice.event === "",
      });
      // The answer to an outdated request is ignored.
      if (asked !== this.#asked || this.#stopped) return;
      const known = new Set(isFirst ? [] : this.entries.map((entry) => entry.first));
      const added = page.entries.filter((entry) => !known.has(entry.first));
      this.entries = isFirst ? added : [...this.entries, ...added];
      this.#next = page.next ?? null;
      this.hasMore = this.#next !== null;
      this.total = page.total;
      this.indexed = page.indexed < page.total ? page.indexed : null;
      if (this.indexed === null) return;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async #records(asked: number, isFirst: boolean): Promise<void> {
    const page = await call("audit_find", {
      filter: filterOf(this.choice),
      before: isFirst ? null : (this.records.at(-1)?.seq ?? null),
      limit: RECORDS,
    });
    if (asked !== this.#asked) return;
    this.records = isFirst ? page.records : [...this.records, ...page.records];
    this.hasMore = page.has_more;
    this.total = page.total;
    this.indexed = null;
  }

  /** Opens or closes an entry. */
  async toggle(first: number): Promise<void> {
    if (this.openEntry === first) {
      this.openEntry = null;
      return;
    }
    await this.#openEntry({ record: first });
  }

  moreOfEntry = (): Promise<void> =>
    this.#openEntry({
      record: this.openEntry ?? 0,
      after: this.entryRecords.at(-1)?.seq ?? 0,
    });

  /** Shows the entry of one turn, alone if it is not on the page. */
  showTurn = (turn: string): Promise<void> => this.#openEntry({ turn });

  async #openEntry(params: AuditEntryParams): Promise<void> {
    try {
      const { entry, records, has_more } = await call("audit_entry", params);
      const isSame = this.openEntry === entry.first && params.after != null;
      this.entryRecords = isSame ? [...this.entryRecords, ...records] : records;
      this.entryHasMore = has_more;
      if (!this.entries.some((known) => known.first === entry.first))
        this.entries = [entry, ...this.entries];
      this.openEntry = entry.first;
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  async verify(): Promise<void> {
    await this.#verify(null);
  }

  async verifyFolder(folder: string): Promise<void> {
    await this.#verify(folder);
  }

  async #verify(folder: string | null): Promise<void> {
    this.verifying = true;
    this.progress = null;
    this.error = null;
    this.report = null;
    try {
      this.report = await (folder === null
        ? call("audit_verify", {})
        : call("audit_verify_folder", { folder }));
      this.folder = folder;
    } catch (cause) {
      const error = asAgentError(cause);
      if (error.details["reason"] === "cancelled") this.said = null;
      else this.error = error;
    } finally {
      this.verifying = false;
      this.progress = null;
    }
  }

  stopVerifying = (): Promise<void> =>
    this.act(async () => {
      await call("audit_verify_stop", {});
      return null;
    });

  /** Opens a record by number, also one that is not on the page. */
  async show(seq: number): Promise<void> {
    try {
      const known = [...this.records, ...this.entryRecords].some((record) => record.seq === seq);
      if (!known) this.#single = await call("audit_show", { seq });
      this.openSeq = seq;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Runs an action that returns a sentence to show. */
  async act(action: () => Promise<string | null>): Promise<void> {
    this.error = null;
    this.said = null;
    try {
      this.said = await action();
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }
}
