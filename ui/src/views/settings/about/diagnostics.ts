// The text of the diagnostics, for a report to somebody else.
import { worded } from "../../../i18n/host";
import { t } from "../../../i18n/index.svelte";
import type { DoctorResponse } from "../../../platform/generated/DoctorResponse";

/** Returns version, system and checks as a text. It has what the page shows, and no more. */
export function diagnosticsText(
  version: string,
  system: string,
  checks: DoctorResponse["checks"],
): string {
  const lines = checks.map(({ name, state, message, hint }) => {
    const told = [worded(message), hint ? worded(hint) : ""].filter((text) => text !== "");
    return `${t(`check.${state}`)}: ${worded(name)} – ${told.join(" ")}`;
  });
  return [t("settings.version", { version }), system, ...lines].join("\n");
}
