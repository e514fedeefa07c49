// The sentence about a problem with a model's server, in the window's language.
import { worded } from "../../i18n/host";
import { t } from "../../i18n/index.svelte";
import type { ConnectionProblem } from "../../platform/generated/ConnectionProblem";
import type { Text } from "../../platform/generated/Text";

/** The result of the host's test of a server. */
export interface Found {
  problem?: ConnectionProblem | null;
  message?: Text | null;
  hint?: Text | null;
  host: string;
  issuer?: string | null;
}

/** Returns the problem and its remedy in words. Only the host knows why a key cannot be used, so its own sentence is shown then. */
export function problemText(found: Found, model: string): string {
  const { problem, host } = found;
  if (!problem || problem === "key_unusable")
    return [found.message, found.hint]
      .filter((text) => text !== null && text !== undefined)
      .map(worded)
      .join(" ");
  return t(`problem.${problem}`, { host, issuer: found.issuer ?? "", model });
}
