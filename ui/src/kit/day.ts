// A day as a person writes it. Pure.

/** Year, month and day with one sign between them, or eight digits. */
const YEAR_FIRST = /^(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})$/;
/** Day, month and year with points, which no language uses in another order. With strokes, nobody knows which of both comes first. */
const DAY_FIRST = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/;

/** Returns a day as 2026-11-30; empty if the text is not one day of the calendar. */
export function dayOf(text: string): string {
  const written = text.trim();
  const first = YEAR_FIRST.exec(written);
  if (first) {
    const [, year = "", sign, month = "", day = ""] = first;
    const isWhole = sign !== "" || written.length === 8;
    return isWhole ? checked(year, month, day) : "";
  }
  const last = DAY_FIRST.exec(written);
  return last ? checked(last[3]!, last[2]!, last[1]!) : "";
}

function checked(year: string, month: string, day: string): string {
  const text = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const date = new Date(`${text}T00:00:00Z`);
  // The 31st of a short month would be a day of the next one.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : "";
}
