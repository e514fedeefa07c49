// The questions that a new conversation suggests, and how the demo shop introduces itself. They follow the data in use: questions
// about sources come first, and the demo shop is not suggested beside the user's own data. Pure.
import type { MessageKey } from "../../i18n/index.svelte";
import type { PackView } from "../../platform/generated/PackView";
import type { ServerView } from "../../platform/generated/ServerView";
import type { SourceView } from "../../platform/generated/SourceView";

export interface Known {
  packs: readonly Pick<PackView, "id" | "examples">[];
  servers: readonly Pick<ServerView, "pack" | "address">[];
  sources: readonly Pick<SourceView, "is_sample">[];
  /** Questions that the host can answer from the sources. */
  answerable: readonly string[];
}

export interface Suggestions {
  introductions: MessageKey[];
  /** Questions as a pack or the host writes them. */
  questions: string[];
}

/** The pack whose own server is a demo. With an address in its settings, the pack uses a real shop. */
const DEMO_SHOP = "shop";
const OF_A_PACK = 3;
/** The most questions about sources. */
export const OF_SOURCES = 4;
const MOST = 6;

export function suggest(known: Known, language: string): Suggestions {
  const { packs, servers, sources, answerable } = known;
  const hasOwnData = sources.some((source) => source.is_sample !== true);
  const found: Suggestions = { introductions: [], questions: answerable.slice(0, OF_SOURCES) };
  for (const { id, examples } of packs) {
    const isDemo =
      id === DEMO_SHOP && !servers.some((server) => server.pack === id && server.address);
    if (isDemo && hasOwnData) continue;
    if (isDemo) found.introductions.push("start.demo_shop");
    found.questions.push(...(examples[language] ?? examples["en"] ?? []).slice(0, OF_A_PACK));
  }
  found.questions.splice(MOST);
  return found;
}
