// Durations of records and steps in words. Pure.
import { t } from "../../i18n/index.svelte";

/** Formats a duration in its two largest units. */
export function duration(ms: number): string {
  if (ms < 1000) return t("audit.ms", { count: ms });
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return t("audit.seconds", { count: seconds });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t("audit.minutes", { minutes, seconds: seconds % 60 });
  return t("audit.hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}
