// Text lookup without state: language tags that are safe for Intl, plural forms, and `{name}` variables.
export type Forms = {
  zero?: string;
  one?: string;
  two?: string;
  few?: string;
  many?: string;
  other: string;
};
export type Message = string | Forms;
export type Vars = Record<string, string | number>;

/** Returns a tag that Intl accepts: "C", "POSIX" and other non-tags become "en". */
export function safeTag(tag: string | undefined | null): string {
  const candidate = (tag ?? "").split(".")[0]!.replace("_", "-");
  try {
    const [canonical] = Intl.getCanonicalLocales(candidate);
    return canonical !== undefined && /^[a-z]{2,3}(-|$)/i.test(canonical) ? canonical : "en";
  } catch {
    return "en";
  }
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Returns a name for a sentence. A name that is written from right to left is kept apart, so that it does not turn the words around it. */
export const isolated = (name: string): string =>
  RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;

/** Picks the plural form for `vars.count` and fills the variables in. */
export function format(
  message: Message,
  vars: Vars | undefined,
  rules: Intl.PluralRules,
  number: Intl.NumberFormat,
): string {
  let text: string;
  if (typeof message === "string") text = message;
  else {
    const count = Number(vars?.["count"] ?? 0);
    text = message[rules.select(count)] ?? message.other;
  }
  if (!vars) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = vars[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? number.format(value) : isolated(value);
  });
}
