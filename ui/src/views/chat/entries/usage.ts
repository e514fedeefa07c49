// Tokens, cost and time of an answer, from the records of its turn. Pure, except for reading the records.
import { formatNumber, t } from "../../../i18n/index.svelte";
import { costWords, knownOf, type Known } from "../../../lib/cost";
import { call } from "../../../platform";
import type { AuditRecordView } from "../../../platform/generated/AuditRecordView";

/** The usage of the turn of an answer. */
export interface TurnUsage {
  input: number;
  output: number;
  calls: number;
  /** The time until the answer, without the time that a person needed to decide. */
  seconds: number;
  /** The known cost in US dollars. */
  usd: number;
  /** How much of the cost is known. A model may have no price. */
  known: Known;
  /** Whether all models ran on this computer. */
  isLocal: boolean;
  models: string[];
}

const number = (value: unknown): number => (typeof value === "number" ? value : 0);

/** Returns the usage of a turn; null if its end is not among the records. */
export function usageOf(records: readonly AuditRecordView[]): TurnUsage | null {
  const end = records.find(
    ({ record_type, fields }) => record_type === "run_ended" && "tokens_in" in fields,
  );
  if (!end) return null;
  const { fields } = end;
  const calls = records.filter(({ record_type }) => record_type === "model_call");
  const usd = number(fields["nano_usd"]) / 1e9;
  const [input, output] = [number(fields["tokens_in"]), number(fields["tokens_out"])];
  const unpriced = fields["unpriced_models"];
  return {
    input,
    output,
    calls: number(fields["model_calls"]),
    seconds: number(fields["duration_ms"]) / 1000,
    usd,
    known: knownOf(usd, typeof unpriced === "number" ? unpriced : undefined, input + output),
    isLocal: calls.length > 0 && calls.every(({ fields }) => fields["local"] === true),
    models: [
      ...new Set(
        calls.flatMap(({ fields }) =>
          typeof fields["model"] === "string" ? [fields["model"]] : [],
        ),
      ),
    ],
  };
}

/** Returns an amount in US dollars. A small one has two digits that say something. */
export function dollars(usd: number): string {
  const digits =
    usd > 0 && usd < 0.01
      ? { maximumSignificantDigits: 2 }
      : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return formatNumber(usd, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    ...digits,
  });
}

/** Returns the cost in words. */
export function costText({ usd, known, isLocal }: TurnUsage): string {
  return usd <= 0 && isLocal ? t("usage.local") : costWords(usd, known, dollars);
}

function secondsText(seconds: number): string {
  const digits = seconds < 10 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 };
  return t("service.seconds", { value: formatNumber(seconds, digits) });
}

/** Returns tokens, cost and time in one line. The cost is left out if no tokens were used. */
export function usageLine(usage: TurnUsage): string {
  const tokens = usage.input + usage.output;
  const isUnknown = usage.known === "none" && !usage.isLocal;
  const cost = tokens > 0 ? [isUnknown ? t("usage.cost_unknown") : costText(usage)] : [];
  return [t("usage.tokens", { count: tokens }), ...cost, secondsText(usage.seconds)].join(" · ");
}

/** Returns the details, as names and values. */
export function usageRows(usage: TurnUsage): [string, string][] {
  return [
    ...(usage.models.length > 0
      ? [[t("settings.model"), usage.models.join(", ")] satisfies [string, string]]
      : []),
    [t("usage.calls"), formatNumber(usage.calls)],
    [t("usage.input"), formatNumber(usage.input)],
    [t("usage.output"), formatNumber(usage.output)],
    [t("usage.cost"), costText(usage)],
    [t("usage.time"), secondsText(usage.seconds)],
  ];
}

/** Reads the usage of a turn from the log. Null if the log has no end of the turn. */
export async function readUsage(turn: string): Promise<TurnUsage | null> {
  const records: AuditRecordView[] = [];
  let hasMore = true;
  while (hasMore) {
    const after = records.at(-1)?.seq ?? null;
    const page = await call("audit_entry", { turn, after });
    records.push(...page.records);
    hasMore = page.has_more && page.records.length > 0;
  }
  return usageOf(records);
}
