// The names and values of settings that a person confirms, in words. A setting without words keeps its own name. Pure.
import { t, tMaybe, type MessageKey } from "../i18n/index.svelte";

const NAMES: Record<string, MessageKey> = {
  "model.base_url": "confirm.base_url",
  "model.list": "confirm.list",
  "model.provider": "confirm.provider",
  "model.fallback": "confirm.fallback",
  "model.runs_here": "confirm.runs_here",
  "memory.model": "confirm.memory_model",
  "egress.allowed": "confirm.allowed",
  "egress.redaction": "confirm.redaction",
  key: "confirm.key",
  "destination.always": "confirm.destination_always",
  "destination.conversation": "confirm.destination_conversation",
  "policy.rule": "confirm.policy_rule",
  "policy.grant": "confirm.policy_grant",
  "policy.file": "confirm.policy_file",
};

/** The names of an added server's settings, by the part of the key after the server's name. */
const OF_SERVER: Record<string, MessageKey> = {
  folder: "confirm.server_folder",
  network: "servers.network",
  enabled: "confirm.server_enabled",
  reads_may_run: "servers.reads_may_run",
  numbers_may_change: "servers.numbers",
};

const PARTS: Record<string, MessageKey> = {
  variables: "confirm.server_variable",
  headers: "confirm.server_header",
  tools: "confirm.server_tool",
};

/** Splits the key of a server's setting into the server, the kind of setting, and the name of a part. A server's name contains no dot. */
function ofServer(setting: string): { server: string; kind: string; part: string } | null {
  const found = /^servers\.([a-z0-9-]+)(?:\.([a-z_]+)(?:\.(.+))?)?$/su.exec(setting);
  return found && { server: found[1] ?? "", kind: found[2] ?? "", part: found[3] ?? "" };
}

/** Returns the name of a setting for a person; null if there are no words for the setting. */
export function nameOfSetting(setting: string): string | null {
  const known = NAMES[setting];
  if (known) return t(known);
  const own = ofServer(setting);
  if (!own) return null;
  const { server, kind, part } = own;
  if (kind === "") return t("confirm.server", { server });
  const key = part === "" ? OF_SERVER[kind] : PARTS[kind];
  return key ? t(key, { name: part }) : null;
}

/** Whether the values of a setting are the exact texts of a rule or permission of the policy. */
export const isRule = (setting: string): boolean =>
  setting === "policy.rule" || setting === "policy.grant";

/** Returns the value of a setting for a person. Only words that the host itself writes are replaced. */
export function wordOfValue(setting: string, value: string): string {
  const own = ofServer(setting);
  if (own?.kind === "tools")
    return value === "" ? t("servers.unsure") : tMaybe(`effect.${value}`, value);
  if (setting === "model.provider") return tMaybe(`provider.${value}`, value);
  if (setting === "egress.redaction") return tMaybe(`privacy.${value}`, value);
  const isSwitch =
    setting === "egress.allowed" ||
    setting.endsWith(".private_network") ||
    (own !== null && own.part === "" && own.kind in OF_SERVER && own.kind !== "folder");
  if (isSwitch && value === "true") return t("common.yes");
  if (isSwitch && value === "false") return t("common.no");
  return value;
}
