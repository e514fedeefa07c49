// The texts and icons of records: the event, its object, and the tone of the status.
import BookText from "@lucide/svelte/icons/book-text";
import Bot from "@lucide/svelte/icons/bot";
import CircleDot from "@lucide/svelte/icons/circle-dot";
import Database from "@lucide/svelte/icons/database";
import Eraser from "@lucide/svelte/icons/eraser";
import FileInput from "@lucide/svelte/icons/file-input";
import Flag from "@lucide/svelte/icons/flag";
import FolderOutput from "@lucide/svelte/icons/folder-output";
import Key from "@lucide/svelte/icons/key-round";
import Package from "@lucide/svelte/icons/package";
import Play from "@lucide/svelte/icons/play";
import Power from "@lucide/svelte/icons/power";
import Scale from "@lucide/svelte/icons/scale";
import Settings from "@lucide/svelte/icons/settings";
import ShieldAlert from "@lucide/svelte/icons/shield-alert";
import ShieldCheck from "@lucide/svelte/icons/shield-check";
import ShieldQuestion from "@lucide/svelte/icons/shield-question-mark";
import Square from "@lucide/svelte/icons/square";
import Wrench from "@lucide/svelte/icons/wrench";
import { FALLBACK, textsOf } from "../../i18n/catalogue";
import { named } from "../../i18n/host";
import { formatMoney, formatNumber, t, tMaybe, type MessageKey } from "../../i18n/index.svelte";
import { costWords, knownOf } from "../../lib/cost";
import { readableName } from "../../lib/names";
import { obj } from "../../lib/read";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import type { RecordType } from "../../platform/generated/RecordType";
import { boards } from "../../state/boards.svelte";
import { duration } from "./duration";
import { destinationsOf } from "./steps";
import { titles } from "./titles.svelte";

const ICONS: Partial<Record<RecordType, typeof Bot>> = {
  log_opened: Flag,
  run_started: Play,
  model_call: Bot,
  tool_intent: Wrench,
  tool_outcome: Wrench,
  approval_requested: ShieldQuestion,
  approval_resolved: ShieldCheck,
  policy_decision: Scale,
  grant_created: ShieldCheck,
  grant_revoked: ShieldQuestion,
  setting_changed: Settings,
  kill_switch: Power,
  memory: BookText,
  memory_read: BookText,
  pack_loaded: Package,
  data_imported: FileInput,
  log_exported: FolderOutput,
  session_exported: FolderOutput,
  app_stopped: Square,
  db_recovered: Database,
  key_rotated: Key,
  value_erased: Eraser,
  values_expired: Eraser,
  session_erased: Eraser,
  attestation_refused: ShieldAlert,
  alarm_acknowledged: ShieldAlert,
};

/** Returns the icon of a record; a circle for an event without an icon of its own. */
export const iconOf = (type: RecordType): typeof Bot => ICONS[type] ?? CircleDot;

type Label = Extract<MessageKey, `record.${string}`>;
type TypeOf<Key> = Key extends `record.${infer Type}` ? Type : never;
const isLabel = (key: string): key is Label => key.startsWith("record.");

/** The record types that can be chosen, in the order of their texts. A text without a type does not compile. */
export const TYPES: readonly RecordType[] = Object.keys(textsOf(FALLBACK))
  .filter(isLabel)
  .map((key) => key.slice("record.".length) as TypeOf<Label>);

/** The fields that may name the object of a record if the record is not about a tool. */
const SUBJECTS: Partial<Record<RecordType, string[]>> = {
  alert_told: ["source"],
  model_call: ["model"],
  setting_changed: ["setting"],
  source_changed: ["source", "name"],
  kill_switch: ["setting", "agent"],
  pack_loaded: ["pack"],
};

/** Returns the figures and the source that were asked for; empty if the question was erased or names none. */
function figureSubject({ revealed: { asked } }: AuditRecordView): string {
  if (typeof asked !== "string") return "";
  try {
    const query = obj(obj(JSON.parse(asked)).query);
    const names = Array.isArray(query["measures"]) ? query["measures"] : [];
    const measures = names.filter((name) => typeof name === "string").map(readableName);
    const source = typeof query["source"] === "string" ? query["source"] : "";
    return [measures.join(", "), source].filter((part) => part !== "").join(" · ");
  } catch {
    return "";
  }
}

/** Returns the event of a record. A decision on an approval and the end of the approved action have the same record type. */
export function titleOf({ record_type, status }: AuditRecordView): string {
  const ended = record_type === "approval_resolved" && (status === "done" || status === "failed");
  return t(ended ? "audit.approved_ended" : `record.${record_type}`);
}

/** Returns the object of the event; empty if the record names none. */
export function subjectOf(record: AuditRecordView): string {
  const { record_type, tool, fields } = record;
  if (record_type === "grant_created" || record_type === "grant_revoked") {
    const places = destinationsOf(record).map((place) => place.name);
    if (places.length > 0) return places.join(", ");
  }
  if (record_type === "figure_computed") return figureSubject(record);
  const name = SUBJECTS[record_type]
    ?.map((field) => fields[field])
    .find((value) => typeof value === "string");
  return tool ?? (name === undefined ? "" : named(name));
}

/** Returns the object with the tool and the board by their names, and the action on it if the record names one. */
export function objectOf(record: AuditRecordView): string {
  const [action, board] = [record.fields["action"], record.fields["board"]];
  const parts = [
    record.tool ? titles.tool(record.tool) : subjectOf(record),
    boards.list?.find(({ id }) => id === board)?.name ?? "",
    typeof action === "string" ? tMaybe(`audit.action_${action}`, readableName(action)) : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** Counts, which have groups of digits. Other numbers can be ids. */
const COUNTS = new Set([
  "calls",
  "model_calls",
  "rows",
  "sends_bytes",
  "tokens_in",
  "tokens_in_so_far",
  "tokens_out",
  "tokens_out_so_far",
]);

/** Returns a cost of a record in words. Amounts are recorded in billionths of a dollar, and none of their digits is lost. */
function costOf(nano: number, fields: AuditRecordView["fields"]): string {
  const [unpriced, input, output] = [
    fields["unpriced_models"],
    fields["tokens_in"],
    fields["tokens_out"],
  ].map((one) => (typeof one === "number" ? one : undefined));
  const usd = nano / 1e9;
  const known = knownOf(usd, unpriced, (input ?? 0) + (output ?? 0));
  return costWords(usd, known, (amount) => formatMoney(amount, "USD", 2, 9));
}

/** Returns a value of a record in words, if there are words for it. `fields` are all those of the record. */
export function valueOf(
  name: string,
  value: unknown,
  fields: AuditRecordView["fields"] = {},
): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof value === "number") {
    if (name === "nano_usd") return costOf(value, fields);
    if (name === "duration_ms") return duration(value);
    if (COUNTS.has(name)) return formatNumber(value);
  }
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  if (name === "status") return tMaybe(`status.${text}`, text);
  if (name === "effect") return tMaybe(`effect.${text}`, text);
  if (name === "level") return tMaybe(`level.${text}`, text);
  if (name === "origin") return tMaybe(`audit.origin_${text}`, text);
  if (name === "scope") return tMaybe(`destination.${text}`, text);
  if (name === "by") return tMaybe(`audit.by_${text}`, text);
  return text;
}

/** Returns the label of a member of a record; its name in words if it has no label. */
export const labelOf = (name: string): string => tMaybe(`field.${name}`, readableName(name));

export type Tone = "neutral" | "ok" | "warn" | "danger" | "info";

export function toneOf(status: string): Tone {
  if (["ok", "done", "approved"].includes(status)) return "ok";
  if (["error", "failed", "unknown", "interrupted"].includes(status)) return "danger";
  if (
    [
      "rejected",
      "expired",
      "denied",
      "refused",
      "cancelled",
      "superseded",
      "limit",
      "approval_required",
    ].includes(status)
  )
    return "warn";
  return "neutral";
}
