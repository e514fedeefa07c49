// The questions that a new conversation suggests, and how sample data and the demo shop introduce themselves. They follow
// the data in use: questions about sources come first, and neither of the two is suggested once the user's own data answers. Pure.
import type { MessageKey } from "../../i18n/index.svelte";
import type { PackDatasets } from "../../platform/generated/PackDatasets";
import type { PackView } from "../../platform/generated/PackView";
import type { ServerView } from "../../platform/generated/ServerView";

/** A text of the catalogue with its values. */
export interface Wording {
  key: MessageKey;
  vars?: Record<string, string | number>;
}

export interface Sources {
  packs: readonly Pick<PackView, "id" | "examples">[];
  servers: readonly Pick<ServerView, "pack" | "address">[];
  /** The data of the pack that takes files; null if no pack does. */
  data: PackDatasets | null;
  /** Names of accounts in the imported data, as far as they are known. */
  accounts: readonly string[];
  /** Questions that the host can answer from the sources. */
  answerable: readonly string[];
}

export interface Suggestions {
  introductions: Wording[];
  /** Questions as a pack writes them, or as texts of the catalogue. */
  questions: (string | Wording)[];
}

/** The pack whose own server is a demo. With an address in its settings, the pack uses a real shop. */
const DEMO_SHOP = "shop";
const OF_A_PACK = 3;
/** The most questions about sources. */
export const OF_SOURCES = 4;
const MOST = 6;

export function suggest(sources: Sources, language: string): Suggestions {
  const { packs, servers, data, accounts, answerable } = sources;
  const own = data?.active === "imported";
  const found: Suggestions = { introductions: [], questions: answerable.slice(0, OF_SOURCES) };
  for (const { id, examples } of packs) {
    const isDemo =
      id === DEMO_SHOP && !servers.some((server) => server.pack === id && server.address);
    if (id === data?.pack && own) {
      found.questions.push(...questionsAbout(accounts));
      continue;
    }
    if (isDemo && own) continue;
    if (id === data?.pack) found.introductions.push(sampleOf(data.sample.accounts));
    if (isDemo) found.introductions.push({ key: "start.demo_shop" });
    found.questions.push(...(examples[language] ?? examples["en"] ?? []).slice(0, OF_A_PACK));
  }
  found.questions.splice(MOST);
  return found;
}

/** Returns the text about the sample. The count is 0 before the first question, because the sample is not made yet. */
function sampleOf(count: number): Wording {
  return count > 0 ? { key: "start.sample", vars: { count } } : { key: "start.sample_unread" };
}

function questionsAbout([first, second]: readonly string[]): Wording[] {
  if (first === undefined) return [{ key: "start.any_pacing" }, { key: "start.any_behind" }];
  const of = (key: MessageKey, account: string): Wording => ({ key, vars: { account } });
  return [
    of("start.own_pacing", first),
    of("start.own_behind", first),
    ...(second === undefined ? [] : [of("start.own_pacing", second)]),
  ];
}
