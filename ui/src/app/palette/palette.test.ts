// The command palette: what a query finds and in which order, and answers that come late.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { matchName, piecesOf } from "./match";
import { forgetRecent, Palette, type Entry, type OwnGroup } from "./palette.svelte";

const run = vi.fn();
const entry = (id: string, group: OwnGroup, name: string): Entry => ({
  id,
  group,
  name,
  run: () => run(id) as undefined,
});
const own = (): Entry[] => [
  entry("new", "actions", "New conversation"),
  entry("search", "actions", "Search conversations"),
  entry("chat", "views", "Chat"),
  entry("general", "settings", "General"),
];
const names = (palette: Palette): string[] => palette.shown.map(({ entry }) => entry.name);

beforeEach(() => {
  vi.useFakeTimers();
  forgetRecent();
  run.mockClear();
});
afterEach(() => vi.useRealTimers());

test("words are found by their beginnings, in order, without case and accents", () => {
  const found = (query: string, name: string): string | null => {
    const match = matchName(query, name);
    if (!match) return null;
    return piecesOf(name, match.parts)
      .map(({ text, found }) => (found ? `[${text}]` : text))
      .join("");
  };
  expect(found("sc", "Search conversations")).toBe("[S]earch [c]onversations");
  expect(found("seconv", "Search conversations")).toBe("[Se]arch [conv]ersations");
  expect(found("conv sea", "Search conversations")).toBe("[Sea]rch [conv]ersations");
  expect(found("cafe", "Café på Söder")).toBe("[Café] på Söder");
  expect(found("sod", "Café på Söder")).toBe("Café på [Söd]er");
  expect(found("vers", "Search conversations")).toBe("Search con[vers]ations");
  expect(found("er", "Search conversations")).toBeNull();
  expect(found("cs", "Search conversations")).toBeNull();
  expect(found("", "Anything")).toBe("Anything");
  expect(found("😀 x", "A 😀😀 box")).toBeNull();
  expect(found("bo", "A 😀😀 box")).toBe("A 😀😀 [bo]x");
});

test("a whole beginning of a word is better than two words or a middle, and an early word than a late one", () => {
  const score = (query: string, name: string): number => matchName(query, name)!.score;
  expect(score("chat", "Chat")).toBeLessThan(score("chat", "Open the chat"));
  expect(score("chat", "Open the chat")).toBeLessThan(score("chat", "Cold hat"));
  expect(score("chat", "Cold hat")).toBeLessThan(score("hat", "Chat"));
});

test("a very long name and a long query are read in a moment", () => {
  const name = "ab ".repeat(5_000);
  expect(matchName("ab".repeat(50), name)?.parts.length).toBeGreaterThan(0);
  expect(matchName(`${"ab".repeat(49)}zz`, name)).toBeNull();
});

test("groups keep their order, and what was chosen last is offered first", () => {
  const palette = new Palette(own, []);
  expect(palette.groups.map(({ group }) => group)).toEqual(["actions", "views", "settings"]);
  const [, search, , general] = palette.shown;
  palette.choose(general!.entry);
  palette.choose(search!.entry);
  expect(run.mock.calls).toEqual([["general"], ["search"]]);
  const next = new Palette(own, []);
  expect(next.groups[0]?.group).toBe("recent");
  expect(names(next)).toEqual(["Search conversations", "General", "New conversation", "Chat"]);
  next.type("conv");
  expect(names(next)).toEqual(["Search conversations", "New conversation"]);
});

test("arrow keys go round, and a new query marks the first entry", () => {
  const palette = new Palette(own, []);
  palette.step(-1);
  expect(palette.marked?.id).toBe("general");
  palette.step(1);
  expect(palette.marked?.id).toBe("new");
  palette.step(1);
  palette.type("c");
  expect(palette.marked?.id).toBe("new");
  palette.type("nothing like this");
  expect([palette.marked, palette.shown]).toEqual([null, []]);
  palette.step(1);
  expect(palette.marked).toBeNull();
});

test("an answer that comes late adds entries and leaves the mark where it was", async () => {
  let answer: (entries: Entry[]) => void = () => {};
  const find = vi.fn(() => new Promise<Entry[]>((resolve) => (answer = resolve)));
  const palette = new Palette(
    () => [entry("ads", "sources", "Advertising")],
    [{ isAsked: true, find }],
  );
  palette.start();
  expect([palette.waiting, palette.marked?.id]).toEqual([1, "ads"]);
  answer([entry("s1", "conversations", "Advertising in May")]);
  await vi.advanceTimersByTimeAsync(0);
  // Conversations stand before sources.
  expect(names(palette)).toEqual(["Advertising in May", "Advertising"]);
  expect([palette.waiting, palette.marked?.id]).toEqual([0, "ads"]);
});

test("the host is asked after a pause, and the answer to an older query is left out", async () => {
  const answers = new Map<string, (entries: Entry[]) => void>();
  const find = (query: string) => new Promise<Entry[]>((resolve) => answers.set(query, resolve));
  const palette = new Palette(() => [], [{ isAsked: true, find }]);
  palette.type("p");
  palette.type("pa");
  await vi.advanceTimersByTimeAsync(200);
  expect([...answers.keys()]).toEqual(["pa"]);
  palette.type("pac");
  await vi.advanceTimersByTimeAsync(200);
  answers.get("pa")!([entry("old", "conversations", "Pacing, old")]);
  answers.get("pac")!([entry("new", "conversations", "Pacing, new")]);
  await vi.advanceTimersByTimeAsync(0);
  expect(names(palette)).toEqual(["Pacing, new"]);
});

test("a host that fails leaves the rest", async () => {
  const find = (): Promise<Entry[]> => Promise.reject(new Error("gone"));
  const palette = new Palette(own, [{ isAsked: false, find }]);
  palette.start();
  await vi.advanceTimersByTimeAsync(0);
  expect([palette.waiting, palette.shown.length]).toEqual([0, 4]);
});
