// The state of the audit view: the filtered page of records, the open record, and the last
// verification.
import { asAgentError, call, platform } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import type { RecordType } from "../../platform/generated/RecordType";
import type { VerifyReport } from "../../platform/generated/VerifyReport";

const PAGE = 100;

export class AuditState {
  records = $state.raw<AuditRecordView[]>([]);
  hasMore = $state(false);
  total = $state(0);
  /** Records that came after the newest one shown. */
  fresh = $state(0);
  loading = $state(false);
  loaded = $state(false);
  error = $state<AgentError | null>(null);
  type = $state<RecordType | "">("");
  query = $state("");
  openSeq = $state<number | null>(null);
  report = $state<VerifyReport | null>(null);
  verifying = $state(false);
  said = $state<string | null>(null);
  open = $derived(this.records.find((record) => record.seq === this.openSeq) ?? null);
  #asked = 0;

  start(): () => void {
    void this.reload();
    return platform().onPush((push) => {
      if (push.push === "audit" && this.loaded) this.fresh = Math.max(0, push.total - this.total);
    });
  }

  reload = (): Promise<void> => this.#page(undefined);
  more = (): Promise<void> => this.#page(this.records.at(-1)?.seq);

  async #page(before: number | undefined): Promise<void> {
    const asked = ++this.#asked;
    this.loading = true;
    try {
      const filter = {
        query: this.query.trim(),
        limit: PAGE,
        ...(this.type ? { record_type: this.type } : {}),
        ...(before === undefined ? {} : { before }),
      };
      const page = await call("audit_list", filter);
      // The answer to an outdated request is ignored.
      if (asked !== this.#asked) return;
      this.records = before === undefined ? page.records : [...this.records, ...page.records];
      this.hasMore = page.has_more;
      this.total = page.total;
      if (before === undefined) this.fresh = 0;
      this.error = null;
      this.loaded = true;
    } catch (cause) {
      this.error = asAgentError(cause);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  async verify(): Promise<void> {
    this.verifying = true;
    this.error = null;
    try {
      this.report = await call("audit_verify", {});
    } catch (cause) {
      this.error = asAgentError(cause);
    } finally {
      this.verifying = false;
    }
  }

  /** Opens a record by number, also one that is not on the page. */
  async show(seq: number): Promise<void> {
    try {
      if (!this.records.some((record) => record.seq === seq))
        this.records = [await call("audit_show", { seq }), ...this.records];
      this.openSeq = seq;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Runs an action that ends with a sentence. */
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
