// Help with a question that is being typed: the keys of the list, answers to an earlier text, the words that stand out, and the word that a
// choice remembers.
import { render } from "svelte/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../i18n/index.svelte";
import type { QuestionCompletion } from "../../platform/generated/QuestionCompletion";
import type { QuestionReadResponse } from "../../platform/generated/QuestionReadResponse";
import { itemOf, viewOf } from "../../state/testing";
import { emptyTranscript, openTranscript } from "../../state/transcript";
import CompletionMenu from "./CompletionMenu.svelte";
import ChoiceButtons from "./entries/ChoiceButtons.svelte";
import { rememberWord } from "./entries/remember";
import { lastQuery, piecesOf, settled, stillRight, withCompletion } from "./typing";
import { PAUSE, Typing } from "./typing.svelte";
import UnusedMarks from "./UnusedMarks.svelte";

const host = vi.hoisted(() => ({
  sent: [] as [string, Record<string, unknown>][],
  answer: (_: string): unknown => ({}),
}));
vi.mock("../../platform", async (original) => ({
  ...(await original<typeof import("../../platform")>()),
  call: (command: string, params: Record<string, unknown>) => {
    host.sent.push([command, params]);
    return Promise.resolve().then(() => host.answer(String(params["text"])));
  },
}));

const completion = (insert: string, from = 9, to = 12): QuestionCompletion => ({
  insert,
  from,
  to,
  kind: "dimension",
  of: "ads",
});
const answer = (more: Partial<QuestionReadResponse> = {}): QuestionReadResponse => ({
  completions: [completion("campaign"), completion("campaign group")],
  unused: [],
  corrections: [],
  ...more,
});
const typed = (text: string) => ({ text, cursor: text.length, before: null });
const inserts = (typing: Typing): string[] => typing.offered.map(({ insert }) => insert);

let typing: Typing;
beforeEach(() => {
  vi.useFakeTimers();
  setLanguage("en");
  Object.assign(host, { sent: [], answer: () => answer() });
  typing = new Typing();
});
afterEach(() => {
  typing.stop();
  vi.useRealTimers();
});

async function read(text: string, offers = true): Promise<void> {
  typing.follow(typed(text), offers);
  await vi.advanceTimersByTimeAsync(PAUSE);
}

test("the host reads a text once, after a pause", async () => {
  for (const text of ["s", "sp", "spend by cam"]) typing.follow(typed(text), true);
  expect(host.sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(PAUSE);
  expect(host.sent).toEqual([
    ["question_read", { text: "spend by cam", cursor: 12, language: "en" }],
  ]);
  expect(inserts(typing)).toEqual(["campaign", "campaign group"]);
});

test("an empty field and a very long text are not read", async () => {
  await read("  ");
  await read("x".repeat(2_000));
  expect([host.sent, typing.offered]).toEqual([[], []]);
});

test("an answer to an earlier text is dropped", async () => {
  let finish: (found: QuestionReadResponse) => void = () => {};
  host.answer = (text) =>
    text === "old" ? new Promise((resolve) => (finish = resolve)) : answer({ completions: [] });
  await read("old");
  await read("new");
  finish(answer({ unused: [{ from: 0, to: 3 }] }));
  await vi.advanceTimersByTimeAsync(0);
  expect([typing.offered, typing.unusedIn("new")]).toEqual([[], []]);
});

test("words are offered only for a text that was typed, and not after Escape or outside of the field", async () => {
  await read("spend by cam", false);
  expect(typing.offered).toEqual([]);
  await read("spend by cam");
  expect(typing.key("Escape")).toBe(true);
  expect([typing.offered, typing.key("Escape")]).toEqual([[], false]);
  typing.follow(typed("spend by camp"), true);
  typing.close();
  await vi.advanceTimersByTimeAsync(PAUSE);
  expect(typing.offered).toEqual([]);
});

test("words that still fit stay in the list while a word is typed, and take its place", async () => {
  await read("spend by cam");
  typing.follow(typed("spend by camp"), true);
  expect(inserts(typing)).toEqual(["campaign", "campaign group"]);
  expect(typing.key("Tab")).toEqual(completion("campaign", 9, 13));
  typing.follow(typed("spend by campaign "), true);
  expect(inserts(typing)).toEqual(["campaign group"]);
  typing.follow(typed("spend by campaign x"), true);
  expect(typing.offered).toEqual([]);
  typing.follow(typed("spend"), true);
  expect(typing.offered).toEqual([]);
});

test("without the host nothing is offered", async () => {
  host.answer = () => {
    throw new Error("There is no host.");
  };
  await read("spend by cam");
  expect([typing.offered, typing.unusedIn("spend by cam")]).toEqual([[], []]);
});

test("Tab takes the first words, and Enter sends before the list is entered", async () => {
  await read("spend by cam");
  expect(typing.key("Enter")).toBe(false);
  expect(typing.key("Tab")).toEqual(completion("campaign"));
  expect(typing.key("x")).toBe(false);
});

test("the arrow keys enter the list, where Tab and Enter take the marked words", async () => {
  await read("spend by cam");
  expect([typing.key("ArrowUp"), typing.marked]).toEqual([true, 1]);
  expect([typing.key("ArrowDown"), typing.marked]).toEqual([true, 0]);
  expect([typing.key("ArrowDown"), typing.marked]).toEqual([true, 1]);
  expect(typing.key("Enter")).toEqual(completion("campaign group"));
  expect(typing.key("Tab")).toEqual(completion("campaign group"));
});

test("keys that move the caret close the list, and keys without a list stay those of the field", async () => {
  for (const key of ["Tab", "Enter", "ArrowUp", "Escape"]) expect(typing.key(key)).toBe(false);
  for (const key of ["ArrowLeft", "Home", "PageUp"]) {
    await read("spend by cam");
    expect([typing.key(key), typing.offered]).toEqual([false, []]);
  }
});

test("chosen words take the place of the typed ones", () => {
  const put = (text: string, to: number) => withCompletion(text, completion("campaign", 9, to));
  expect(put("spend by cam", 12)).toEqual({ text: "spend by campaign ", caret: 18 });
  expect(put("spend by cam last week", 12)).toEqual({
    text: "spend by campaign last week",
    caret: 18,
  });
  expect(put("spend by cam?", 12)).toEqual({ text: "spend by campaign?", caret: 17 });
});

test("a word that will not be used stands out until it is changed", async () => {
  host.answer = () => answer({ completions: [], unused: [{ from: 0, to: 7 }] });
  await read("current spend");
  expect(typing.unusedIn("current spend")).toEqual([{ from: 0, to: 7 }]);
  expect(typing.unusedIn("current spend by week")).toEqual([{ from: 0, to: 7 }]);
  for (const text of ["currents spend", "curre", "spend", ""])
    expect(typing.unusedIn(text)).toEqual([]);
  expect(stillRight([{ from: 0, to: 7 }], "current", "currently")).toEqual([]);
});

test("the word at the caret does not stand out while it may become one that is offered", () => {
  const unused = [
    { from: 0, to: 7 },
    { from: 17, to: 20 },
  ];
  const offered = [completion("campaign", 17, 20)];
  expect(settled(unused, 20, offered)).toEqual([unused[0]]);
  expect(settled(unused, 20, [])).toEqual(unused);
  expect(settled(unused, 7, offered)).toEqual(unused);
});

test("the layer behind the field has all of its text, with the words that stand out", () => {
  expect(piecesOf("current spend", [{ from: 0, to: 7 }])).toEqual([
    { text: "current", isUnused: true },
    { text: " spend", isUnused: false },
  ]);
  // Spans that do not fit the text are left out.
  const spans = [
    { from: 3, to: 5 },
    { from: 1, to: 4 },
    { from: 5, to: 99 },
  ];
  const pieces = piecesOf("a<b>c\nd", spans);
  expect(pieces.map(({ text }) => text).join("")).toBe("a<b>c\nd");
  expect(pieces.filter(({ isUnused }) => isUnused)).toEqual([{ text: "<b>", isUnused: true }]);
  const { body } = render(UnusedMarks, {
    props: { text: "<b> spend", unused: [{ from: 0, to: 3 }], width: 100, top: 0 },
  });
  expect(body).toContain("&lt;b>");
  expect(body).toMatch(/aria-hidden="true"/);
});

test("the list says the kind of each entry and which key takes it", () => {
  const { body } = render(CompletionMenu, {
    props: { id: "words", offered: answer().completions, marked: null, onchoose: () => {} },
  });
  const text = body.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
  expect(text.trim()).toBe("campaign Dimension · ads Tab campaign group Dimension · ads");
  expect(body.match(/role="option"/g)).toHaveLength(2);
  expect(body).not.toContain('aria-selected="true"');
});

test("a question goes on from the newest figures of its conversation", () => {
  const state = emptyTranscript("s");
  const result = (seq: number, parsed: unknown) =>
    itemOf(seq, {
      kind: "tool_result",
      call: `c${seq}`,
      tool: "data.measure",
      outcome: "ok",
      summary: "",
      data: null,
      view: { shape: "table" },
      untrusted: false,
      duration_ms: 1,
      parsed,
    });
  const call = (seq: number, id: string) =>
    itemOf(seq, {
      kind: "tool_call",
      call: id,
      tool: "data.measure",
      title: "Measure",
      effect: "read_only",
      arguments: {},
    });
  expect(lastQuery(null)).toBeNull();
  const query = {
    measures: ["spend"],
    as_of: { moment: "2026-11-30T09:00:00", zone: "UTC" },
  };
  const asked = { query, source: "ads", parts: [] };
  openTranscript(
    state,
    viewOf([
      call(1, "c2"),
      result(2, { computed: { asked } }),
      call(3, "c4"),
      result(4, { columns: [], rows: [], total: 0 }),
    ]),
  );
  expect(lastQuery(state)).toEqual({ source: "ads", measures: ["spend"] });
});

test("a choice that reads a word in its own way can be remembered for its source", async () => {
  const word = { source: "ads", name: "media_cost", word: "cost", language: "en" };
  const { body } = render(ChoiceButtons, {
    props: {
      choices: [
        { label: "Media cost by week", message: "media cost by week", remember: word },
        { label: "Clicks by week", message: "clicks by week" },
      ],
    },
  });
  const text = body.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
  expect(text.match(/Always for ads/g)).toHaveLength(1);
  expect(body).toContain("From now on, “cost” means Media cost in ads.");
  expect(await rememberWord(word)).toBeNull();
  expect(host.sent).toEqual([["source_synonym_add", word]]);
  host.answer = () => {
    throw new Error("no");
  };
  expect((await rememberWord(word))?.message).toBe("no");
});
