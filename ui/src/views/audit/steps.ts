// The steps of one entry, as a person reads them: a call's two records are one step, and an approval has the arguments that were
// shown for it.
import { argumentRows, type ArgumentRow } from "../../approval/hidden";
import { obj, type Obj } from "../../lib/read";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import type { Destination } from "../../platform/generated/Destination";
import type { DestinationKind } from "../../platform/generated/DestinationKind";

export type StepKind =
  | "asked"
  | "memory"
  | "model"
  | "read"
  | "proposed"
  | "decided"
  | "executed"
  | "refused"
  | "answered"
  | "other";

export interface Step {
  kind: StepKind;
  /** The record that begins the step. */
  record: AuditRecordView;
  /** The record that ends the step, such as a call's outcome. */
  end: AuditRecordView | null;
  /** The proposal that a decision is about. */
  request: AuditRecordView | null;
  /** Whether a later step of the entry is the decision about this proposal. */
  isDecided: boolean;
  /** How many records of the same kind the step stands for. */
  times: number;
  /** Whether the outcome of a call is known, is unknown, or may be on a later page. */
  outcome: "known" | "unknown" | "later";
}

const KINDS: readonly DestinationKind[] = ["host", "recipient", "server"];
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function kindOf(record: AuditRecordView): StepKind {
  switch (record.record_type) {
    case "run_started":
      return "input" in record.revealed ? "asked" : "other";
    case "memory":
    case "memory_read":
      return "memory";
    case "model_call":
      return "model";
    case "tool_intent":
      return record.fields["effect"] === "read_only" ? "read" : "executed";
    case "tool_outcome":
      return "executed";
    case "approval_requested":
      return "proposed";
    case "approval_resolved":
      return "decided";
    case "policy_decision":
      return "refused";
    case "run_ended":
      return "answered";
    default:
      return "other";
  }
}

/** Whether the record says how an approved action ended. The action's own outcome record says the same. */
const isEnd = ({ record_type, status }: AuditRecordView): boolean =>
  record_type === "approval_resolved" && (status === "done" || status === "failed");

/** Whether the step is the call of this approved action and has its outcome. */
const hasEnded = ({ kind, record, end }: Step, approval: string): boolean =>
  (kind === "executed" || kind === "read") &&
  end !== null &&
  approval !== "" &&
  text(record.fields["approval"]) === approval;

/** Returns the steps of an entry, in the order of the log. `hasMore` says that the entry has more records than these. */
export function stepsOf(records: readonly AuditRecordView[], hasMore = false): Step[] {
  const steps: Step[] = [];
  const calls = new Map<string, Step>();
  const requests = new Map<string, AuditRecordView>();
  for (const record of records) {
    const call = text(record.fields["call"]);
    const approval = text(record.fields["approval"]);
    const kind = kindOf(record);
    if (record.record_type === "approval_requested") requests.set(approval, record);
    const begun = record.record_type === "tool_outcome" ? calls.get(call) : undefined;
    if (begun && !begun.end) {
      begun.end = record;
      continue;
    }
    if (isEnd(record) && steps.some((step) => hasEnded(step, approval))) continue;
    const last = steps.at(-1);
    if (kind === "model" && last?.kind === "model" && last.record.status === record.status) {
      last.times++;
      last.end = record;
      continue;
    }
    const request = kind === "decided" ? (requests.get(approval) ?? null) : null;
    if (request) {
      const proposal = steps.find((step) => step.record === request);
      if (proposal) proposal.isDecided = true;
    }
    const step: Step = {
      kind,
      record,
      end: null,
      request,
      isDecided: false,
      times: 1,
      outcome: "known",
    };
    if (record.record_type === "tool_intent") calls.set(call, step);
    steps.push(step);
  }
  for (const step of steps)
    if (step.record.record_type === "tool_intent" && !step.end)
      step.outcome = hasMore ? "later" : "unknown";
  return steps;
}

/** Returns a revealed text; null if it was erased, undefined if the record has none. */
export function revealed(record: AuditRecordView, member: string): string | null | undefined {
  const value = record.revealed[member];
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : value === null ? null : JSON.stringify(value);
}

/** Parses a text as JSON. Returns the text itself if it is not JSON. */
export function parsed(value: string): unknown {
  if (!/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** Returns the sentence of a proposal's preview; empty without a preview. */
export function summaryOf(request: AuditRecordView): string {
  const preview: Obj = obj(parsed(revealed(request, "preview") ?? ""));
  return text(preview["summary"]);
}

/** Returns the arguments by name, as an approval window shows them; null if they were erased or there are none. */
export function argumentsOf(record: AuditRecordView): ArgumentRow[] | null {
  const value = revealed(record, "arguments");
  return value === undefined || value === null ? null : argumentRows(value);
}

/** Returns the places that a read sends data to; none if they were erased. */
export function destinationsOf(record: AuditRecordView): Destination[] {
  const found = parsed(revealed(record, "destinations") ?? "");
  if (!Array.isArray(found)) return [];
  return found.map(obj).flatMap(({ kind, name }) => {
    const known = KINDS.find((one) => one === kind);
    return known && typeof name === "string" ? [{ kind: known, name }] : [];
  });
}

/** Whether the value of a member was erased. */
export const isErased = (record: AuditRecordView, member: string): boolean =>
  revealed(record, member) === null;
