// The language of the window, and functions that return texts and format numbers and dates. A component that uses any of them is updated
// when the language changes.
import { FALLBACK, hasTexts, languageOf, loadTexts, textsOf, type MessageKey } from "./catalogue";
import { format, safeTag, type Vars } from "./plural";

export { languages, type MessageKey } from "./catalogue";

class Locale {
  /** The full tag for numbers and dates, e.g. `sv-SE`. */
  tag = $state("en");
  language = $derived(languageOf(this.tag));
  rules = $derived(new Intl.PluralRules(this.tag));
  number = $derived(new Intl.NumberFormat(this.tag));
  zone = $state<string | undefined>(undefined);
}

const locale = new Locale();

/** The tag that was chosen last; its texts may still be on their way. */
let wanted = "en";
let loading: Promise<void> = Promise.resolve();

function apply(tag: string): void {
  locale.tag = tag;
  if (typeof document !== "undefined") document.documentElement.lang = locale.language;
}

/** Loads the texts of a language, and then sets the language, if no other one was chosen meanwhile. */
async function loadAndApply(tag: string): Promise<void> {
  // Texts that cannot be loaded are English, and are loaded again when the language is set again.
  await loadTexts(languageOf(tag)).catch(() => {});
  if (tag === wanted) apply(tag);
}

/** Sets the language: `choice` is a tag, or `system` for the system's language, which the host passes as the second argument. Until the
 *  texts of the language are here, the window keeps the one that it has. */
export function setLanguage(choice: string, system?: string): void {
  wanted = safeTag(
    choice === "system"
      ? (system ?? (typeof navigator === "undefined" ? "en" : navigator.language))
      : choice,
  );
  if (hasTexts(languageOf(wanted))) apply(wanted);
  else loading = loadAndApply(wanted);
}

/** Waits until the language that was set last is in use. */
export async function languageSet(): Promise<void> {
  // Another language can be set while the texts of one are loaded.
  while (locale.tag !== wanted) await loading;
}

/** Sets the IANA zone for dates; `system`, or a name that Intl refuses, stands for the computer's zone. */
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

/** Returns the text of a key in the current language. */
export function t(key: MessageKey, vars?: Vars): string {
  const message = textsOf(locale.language)[key] ?? textsOf(FALLBACK)[key] ?? key;
  return format(message, vars, locale.rules, locale.number);
}

/** Returns the text of a key that is made at run time (e.g. from a code of the host), or `fallback` if the catalogue lacks the key. */
export function tMaybe(key: string, fallback: string, vars?: Vars): string {
  return key in textsOf(FALLBACK) ? t(key as MessageKey, vars) : fallback;
}

/** Formats by language and options. Making one takes longer than a hundred uses, and a long table has thousands of cells. */
const numberFormats = new Map<string, Intl.NumberFormat>();
const dateFormats = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATS = 200;

function cached<F>(formats: Map<string, F>, key: string, make: () => F): F {
  const known = formats.get(key);
  if (known) return known;
  if (formats.size >= MOST_FORMATS) formats.clear();
  const format = make();
  formats.set(key, format);
  return format;
}

export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  if (!options) return locale.number.format(value);
  const { tag } = locale;
  const key = `${tag} ${JSON.stringify(options)}`;
  return cached(numberFormats, key, () => new Intl.NumberFormat(tag, options)).format(value);
}

/** Formats money with its currency code, or as a plain number if there is no code. It has two decimals, or from `decimals` to `most`. */
export function formatMoney(
  value: number,
  currency?: string | null,
  decimals = 2,
  most = decimals,
): string {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: most };
  const amount = formatNumber(value, digits);
  // Amounts have the same format as in answers and in the approval window, in every language.
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
  const { tag } = locale;
  const full = { timeZone: zone, ...options };
  const key = `${tag} ${JSON.stringify(full)}`;
  return cached(dateFormats, key, () => new Intl.DateTimeFormat(tag, full)).format(date);
}

/** Formats days from a first to a last one: with their year, without it, or as the month of the first one. */
export function formatDays(
  from: string,
  to: string,
  form: "full" | "without_year" | "month",
): string {
  const [first, last] = [dateOf(from), dateOf(to)];
  if (Number.isNaN(first.getTime()) || Number.isNaN(last.getTime())) return `${from} – ${to}`;
  const { tag } = locale;
  const isShort = form === "without_year" && first.getFullYear() === last.getFullYear();
  const options: Intl.DateTimeFormatOptions = {
    month: "short",
    ...(form !== "month" && { day: "numeric" }),
    ...(!isShort && { year: "numeric" }),
  };
  const key = `${tag} ${JSON.stringify(options)}`;
  const format = cached(dateFormats, key, () => new Intl.DateTimeFormat(tag, options));
  return form === "month" || from === to ? format.format(first) : format.formatRange(first, last);
}

export function formatTime(value: string | Date): string {
  return formatDate(value, { hour: "2-digit", minute: "2-digit" });
}

export function formatDateTime(value: string | Date): string {
  return formatDate(value, { dateStyle: "medium", timeStyle: "medium" });
}

/** A moment with at most three digits after the second, which is what a date keeps, and its zone if it has one. */
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.(\d{1,3}))?(Z|[+-]\d{2}:?\d{2})?$/;

/** Formats a stored moment with all its digits. One without a zone has the time that is stored, and one with a zone has the reader's. */
export function formatMoment(value: string): string {
  const found = MOMENT.exec(value);
  if (!found) return value.replace("T", " ");
  const [, fraction, zone] = found;
  const options: Intl.DateTimeFormatOptions = {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    second: "2-digit",
    ...(fraction && { fractionalSecondDigits: fraction.length as 1 | 2 | 3 }),
  };
  return zone
    ? formatDate(value, options)
    : formatDate(`${value}Z`, { ...options, timeZone: "UTC" });
}

/** Formats a point in time, with the day unless it is today. `there` is the time in another zone, or null if its clocks show the same. */
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

/** Returns the calendar day of a moment in the reader's zone, such as 2026-11-30. */
export function dayOf(moment: Date): string {
  const options = {
    timeZone: locale.zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  } as const;
  const parts = new Intl.DateTimeFormat("en", options).formatToParts(moment);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}

/** Returns how long ago a point in time was, in whole units, such as "3 minutes ago". */
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
