// The members of a record as labels and values, and its ids in full.
import { isLongId } from "../../approval/values/values";
import { t } from "../../i18n/index.svelte";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import { titles } from "./titles.svelte";
import { labelOf, valueOf } from "./words";

export interface Fact {
  /** The name in the record. */
  name: string;
  label: string;
  /** A text, or a value with names or entries. */
  value: unknown;
}

/** Returns a tool by its title and by the id that the log has. */
function toolText(id: string): string {
  const title = titles.tool(id);
  return title === id ? id : `${title} (${id})`;
}

function worded(name: string, value: unknown, fields: AuditRecordView["fields"]): unknown {
  if (typeof value === "object" && value !== null) return value;
  if (name === "tool" && typeof value === "string") return toolText(value);
  if (name === "agent" && typeof value === "string") return titles.agent(value);
  return valueOf(name, value, fields);
}

/** Members that few readers need. A level says something only if it is not the usual one. */
function isAside({ name }: Fact, { fields }: AuditRecordView): boolean {
  return name === "session" || name === "turn" || (name === "level" && fields["level"] === "info");
}

/** Returns the members that say something. The status stands beside the title. */
export const factsOf = (record: AuditRecordView): Fact[] =>
  allFacts(record).filter((fact) => !isAside(fact, record));

/** Returns the members that stand behind a fold. */
export const asideOf = (record: AuditRecordView): Fact[] =>
  allFacts(record).filter((fact) => isAside(fact, record));

function allFacts(record: AuditRecordView): Fact[] {
  const { session, turn, tool, fields } = record;
  const facts: Fact[] = [];
  if (session) facts.push({ name: "session", label: t("audit.session"), value: session });
  if (turn) facts.push({ name: "turn", label: t("audit.turn"), value: turn });
  if (tool && !("tool" in fields))
    facts.push({ name: "tool", label: t("audit.tool"), value: toolText(tool) });
  for (const [name, value] of Object.entries(fields))
    // The words of a cost say that a price is missing.
    if (value !== "" && name !== "status" && !(name === "unpriced_models" && "nano_usd" in fields))
      facts.push({ name, label: labelOf(name), value: worded(name, value, fields) });
  return facts;
}

/** Returns each long id and hash of a record in full, with its label. The record's own hash comes last. */
export function wholeIdsOf(record: AuditRecordView): [string, string][] {
  const ids = allFacts(record).flatMap(({ label, value }): [string, string][] =>
    typeof value === "string" && isLongId(value) ? [[label, value]] : [],
  );
  return [...ids, [t("audit.leaf"), record.leaf]];
}
