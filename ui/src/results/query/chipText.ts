// The words of a part of a question as they stand on a button of their own. Knows no component.
import { worded } from "../../i18n/host";
import { language } from "../../i18n/index.svelte";
import type { QueryPart } from "../../platform/generated/QueryPart";
import type { Text } from "../../platform/generated/Text";

/** Whether a text begins with a name or a value, and not with words. */
function beginsWithName(text: Text): boolean {
  if (typeof text === "string") return false;
  const [, hole] = /^\{(\w+)\}/.exec(text.key) ?? [];
  if (hole === undefined) return false;
  const param = text.params[hole];
  return typeof param !== "object" || !("key" in param) || beginsWithName(param);
}

/** Returns the words of a part. Words begin with a capital letter; a name stays as it is. */
export function chipText({ text }: Pick<QueryPart, "text">): string {
  const said = worded(text);
  if (beginsWithName(text)) return said;
  const [first = "", ...rest] = said;
  return first.toLocaleUpperCase(language()) + rest.join("");
}
