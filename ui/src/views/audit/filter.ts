// The user's choices in the filter, and the filter that the host gets.
import type { AuditFilter } from "../../platform/generated/AuditFilter";
import type { RecordType } from "../../platform/generated/RecordType";

export interface Choice {
  search: string;
  tool: string;
  agent: string;
  event: RecordType | "";
  decision: string;
  /** Days as `YYYY-MM-DD`; both are included. */
  since: string;
  until: string;
  session: string;
}

export const emptyChoice = (): Choice => ({
  search: "",
  tool: "",
  agent: "",
  event: "",
  decision: "",
  since: "",
  until: "",
  session: "",
});

/** Returns the first moment of the day that is `days` days after this one. */
function moment(day: string, days: number): string | null {
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return null;
  at.setDate(at.getDate() + days);
  return at.toISOString();
}

/** Returns the filter of a choice. A member that is not chosen is absent. */
export function filterOf(choice: Choice): AuditFilter {
  const filter: AuditFilter = { search: choice.search };
  if (choice.tool !== "") filter.tool = choice.tool;
  if (choice.agent !== "") filter.agent = choice.agent;
  if (choice.event !== "") filter.event = choice.event;
  if (choice.decision !== "") filter.decision = choice.decision;
  if (choice.session !== "") filter.session = choice.session;
  const since = moment(choice.since, 0);
  const until = moment(choice.until, 1);
  if (since !== null) filter.since = since;
  if (until !== null) filter.until = until;
  return filter;
}

/** Returns how many parts of the filter are set, besides the words. */
export function chosen(choice: Choice): number {
  const { search, ...rest } = choice;
  void search;
  return Object.values(rest).filter((value) => value !== "").length;
}
