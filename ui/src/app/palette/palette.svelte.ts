// The entries of the command palette for a query: groups of entries, the marked entry, and answers of the host that come later. Knows neither
// components nor where the entries come from.
import { matchName, type Match } from "./match";

/** The groups, in their order. */
export const GROUPS = [
  "recent",
  "actions",
  "views",
  "settings",
  "conversations",
  "sources",
  "boards",
] as const;
export type Group = (typeof GROUPS)[number];
export type OwnGroup = Exclude<Group, "recent">;

/** Something to choose. */
export interface Entry {
  /** Unlike that of any other entry, and the same each time. */
  id: string;
  group: OwnGroup;
  name: string;
  /** Further words, shown after the name. */
  detail?: string;
  /** Keys that do the same, such as Ctrl and N. */
  keys?: readonly string[];
  run: () => void;
}

/** Entries that the host has. */
export interface Lookup {
  /** Whether each query is asked for, instead of all entries once. */
  isAsked: boolean;
  find: (query: string) => Promise<Entry[]>;
}

export interface Shown {
  entry: Entry;
  parts: Match["parts"];
}

/** The most entries of a group while something is typed, and while nothing is. */
const MOST = 8;
const MOST_AT_FIRST = 5;
/** The time without a key after which the host is asked. */
const PAUSE = 100;
const RECENT = 5;

/** The ids of the entries that were chosen last, the newest first. They are forgotten when the app ends. */
const recent: string[] = [];

export function forgetRecent(): void {
  recent.length = 0;
}

export class Palette {
  query = $state("");
  /** Entries of the host, by the position of their lookup. */
  private found = $state.raw<Readonly<Record<number, Entry[]>>>({});
  /** How many answers of the host are awaited. */
  waiting = $state(0);
  /** The id of the entry that a person moved to. Null marks the first one. */
  private moved = $state<string | null>(null);
  private request = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly entries = $derived.by(() => [
    ...this.own(),
    ...Object.values(this.found).flat(),
  ]);
  groups = $derived.by(() => this.grouped());
  shown = $derived(this.groups.flatMap(({ entries }) => entries));
  /** The marked entry. It stays marked when others come before it. */
  marked = $derived(
    this.shown.find(({ entry }) => entry.id === this.moved)?.entry ?? this.shown[0]?.entry ?? null,
  );

  constructor(
    private readonly own: () => Entry[],
    private readonly lookups: readonly Lookup[],
  ) {}

  /** Asks the host for everything that does not depend on a query. */
  start(): void {
    this.lookups.forEach((lookup, at) => void this.ask(at, lookup, "", () => true));
  }

  /** Takes what was typed. The first entry is marked again. */
  type(query: string): void {
    this.query = query;
    this.moved = null;
    clearTimeout(this.timer);
    const request = ++this.request;
    this.timer = setTimeout(() => {
      this.lookups.forEach((lookup, at) => {
        if (lookup.isAsked) void this.ask(at, lookup, query.trim(), () => request === this.request);
      });
    }, PAUSE);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.request++;
  }

  /** Marks the next or the previous entry, round the end. */
  step(by: 1 | -1): void {
    const count = this.shown.length;
    if (count === 0) return;
    const at = this.shown.findIndex(({ entry }) => entry.id === this.marked?.id);
    this.moved = this.shown[(at + by + count) % count]!.entry.id;
  }

  mark(entry: Entry): void {
    this.moved = entry.id;
  }

  /** Remembers a chosen entry and runs it. */
  choose(entry: Entry): void {
    const at = recent.indexOf(entry.id);
    if (at >= 0) recent.splice(at, 1);
    recent.unshift(entry.id);
    recent.length = Math.min(recent.length, 2 * RECENT);
    entry.run();
  }

  private async ask(
    at: number,
    lookup: Lookup,
    query: string,
    isWanted: () => boolean,
  ): Promise<void> {
    // The entry that is marked now keeps its mark, whatever the answer brings.
    const keep = (): void => {
      this.moved ??= this.marked?.id ?? null;
    };
    this.waiting++;
    try {
      const entries = await lookup.find(query);
      if (!isWanted()) return;
      keep();
      this.found = { ...this.found, [at]: entries };
    } catch {
      // Without an answer, the palette offers everything else.
    } finally {
      this.waiting--;
    }
  }

  private grouped(): { group: Group; entries: Shown[] }[] {
    const isTyped = this.query.trim() !== "";
    const fits = this.entries.flatMap((entry) => {
      const found = matchName(this.query, entry.name);
      return found ? [{ entry, ...found }] : [];
    });
    const byGroup = new Map<Group, Shown[]>();
    const take = (group: Group, list: Shown[]): void => {
      if (list.length > 0) byGroup.set(group, list);
    };
    const age = ({ id }: Entry): number => (recent.includes(id) ? recent.indexOf(id) : 99);
    const used = isTyped
      ? []
      : fits
          .filter(({ entry }) => recent.includes(entry.id))
          .sort((a, b) => age(a.entry) - age(b.entry))
          .slice(0, RECENT);
    take("recent", used);
    for (const group of GROUPS) {
      const own = fits.filter(
        (one) => one.entry.group === group && !used.some(({ entry }) => entry === one.entry),
      );
      // Of names that fit equally well, the one that was used last comes first.
      if (isTyped)
        own.sort(
          (a, b) =>
            Math.floor(a.score) - Math.floor(b.score) ||
            age(a.entry) - age(b.entry) ||
            a.score - b.score,
        );
      const most = isTyped || group === "actions" || group === "views" ? MOST : MOST_AT_FIRST;
      take(group, own.slice(0, most));
    }
    return [...byGroup].map(([group, entries]) => ({ group, entries }));
  }
}
