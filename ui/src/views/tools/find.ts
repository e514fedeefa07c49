// Finds packs and their tools by words that a person typed. Pure.
import type { PackView } from "../../platform/generated/PackView";
import type { ToolSpec } from "../../platform/generated/ToolSpec";

export interface Found {
  pack: PackView;
  /** The tools to show: all of them if the pack itself fits. */
  tools: readonly ToolSpec[];
}

/** Whether a text contains all words. */
function fits(words: readonly string[], text: string): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

/** Returns the packs that fit a query by themselves or by one of their tools. `named` gives names in the language of the window. */
export function findPacks(
  packs: readonly PackView[],
  query: string,
  named: (title: string) => string,
): Found[] {
  const words = query.toLowerCase().split(/\s+/u).filter(Boolean);
  return packs.flatMap((pack) => {
    const about = [named(pack.title), named(pack.description), pack.id, pack.agent ?? ""];
    if (fits(words, about.join(" "))) return [{ pack, tools: pack.tools }];
    const tools = pack.tools.filter((tool) => fits(words, `${named(tool.title)} ${tool.id}`));
    return tools.length > 0 ? [{ pack, tools }] : [];
  });
}
