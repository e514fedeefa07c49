// The language of the window and everything that words or writes numbers and dates in it. Reading any of these in a
// component makes it follow a language switch.
import { FALLBACK, languageOf, textsOf, type MessageKey } from "./catalogue";
import { format, safeTag, type Vars } from "./plural";

export { languages, type MessageKey } from "./catalogue";

class Locale {
  /** Full tag for numbers and dates, e.g. `sv-SE`. */
  tag = $state("en");
  language = $derived(languageOf(this.tag));
  rules = $derived(new Intl.PluralRules(this.tag));
  number = $derived(new Intl.NumberFormat(this.tag));
  zone = $state<string | undefined>(undefined);
}

const locale = new Locale();

/** Sets the language: its tag, or `system` with what the host says the system's is. */
export function setLanguage(choice: string, system?: string): void {
  const wanted =
    choice === "system"
      ? (system ?? (typeof navigator === "undefined" ? "en" : navigator.language))
      : choice;
  locale.tag = safeTag(wanted);
  if (typeof document !== "undefined") document.documentElement.lang = locale.language;
}

/** Sets the IANA zone for dates; `system` (or a name Intl refuses) uses the machine's. */
export function setTimeZone(zone: string): void {
  try {
    locale.zone =
      zone === "system"
        ? undefined
        : new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    locale.zone = undefined;
  }
}

export function language(): string {
  return locale.language;
}

/** The text of a key in the current language. */
export function t(key: MessageKey, vars?: Vars): string {
  const message = textsOf(locale.language)[key] ?? textsOf(FALLBACK)[key] ?? key;
  return format(message, vars, locale.rules, locale.number);
}

/** The text of a key made at run time (e.g. from a code of the host); `fallback` when the catalogue has none. */
export function tMaybe(key: string, fallback: string, vars?: Vars): string {
  return key in textsOf(FALLBACK) ? t(key as MessageKey, vars) : fallback;
}

export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return options
    ? new Intl.NumberFormat(locale.tag, options).format(value)
    : locale.number.format(value);
}

/** Formats money with its currency code, or as a plain number with two decimals if there is no code. */
export function formatMoney(value: number, currency?: string | null, decimals = 2): string {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const amount = formatNumber(value, digits);
  // In the same format as answers and the approval window, in every language.
  return currency ? `${amount}\u00a0${currency}` : amount;
}

function dateOf(value: string | Date): Date {
  // A date without a time is a calendar day, and not midnight UTC.
  if (typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value))
    return new Date(`${value}T12:00:00`);
  return typeof value === "string" ? new Date(value) : value;
}

export function formatDate(
  value: string | Date,
  options: Intl.DateTimeFormatOptions = { dateStyle: "medium" },
): string {
  const date = dateOf(value);
  if (Number.isNaN(date.getTime())) return String(value);
  const zone = typeof value === "string" && value.length === 10 ? undefined : locale.zone;
  return new Intl.DateTimeFormat(locale.tag, { ...options, timeZone: zone }).format(date);
}

export function formatTime(value: string | Date): string {
  return formatDate(value, { hour: "2-digit", minute: "2-digit" });
}

export function formatDateTime(value: string | Date): string {
  return formatDate(value, { dateStyle: "medium", timeStyle: "medium" });
}

/** The time of a point in time, with its day if that is not today; `there` is the time in another zone, or null if its clocks show the same. */
export function formatPoint(
  at: string,
  zone: string | null,
  now: Date,
): { time: string; there: string | null } {
  const point = dateOf(at);
  if (Number.isNaN(point.getTime())) return { time: at, there: null };
  const write = (date: Date, style: "dateStyle" | "timeStyle", timeZone?: string): string =>
    new Intl.DateTimeFormat(locale.tag, {
      [style]: style === "dateStyle" ? "medium" : "short",
      timeZone,
    }).format(date);
  const clock = (timeZone?: string): string => write(point, "timeStyle", timeZone);
  const day = (timeZone?: string): string => write(point, "dateStyle", timeZone);
  const own = locale.zone;
  const isToday = day(own) === write(now, "dateStyle", own);
  const time = isToday ? clock(own) : `${day(own)}, ${clock(own)}`;
  try {
    if (zone === null || (clock(zone) === clock(own) && day(zone) === day(own)))
      return { time, there: null };
    return {
      time,
      there: day(zone) === day(own) ? clock(zone) : `${day(zone)}, ${clock(zone)}`,
    };
  } catch {
    // Intl does not know the zone.
    return { time, there: null };
  }
}

/** "3 minutes ago" for a point in time, in whole units. */
export function formatAgo(value: string | Date, now: Date): string {
  const seconds = Math.round((dateOf(value).getTime() - now.getTime()) / 1000);
  const relative = new Intl.RelativeTimeFormat(locale.tag, { numeric: "auto", style: "short" });
  const size = Math.abs(seconds);
  if (size < 60) return t("time.now");
  if (size < 3600) return relative.format(Math.trunc(seconds / 60), "minute");
  if (size < 86_400) return relative.format(Math.trunc(seconds / 3600), "hour");
  if (size < 7 * 86_400) return relative.format(Math.trunc(seconds / 86_400), "day");
  return formatDate(value, {
    day: "numeric",
    month: "short",
    year: dateOf(value).getFullYear() === now.getFullYear() ? undefined : "numeric",
  });
}
