// The list of actions: each key has one action, and the sheet of shortcuts says the same as the list.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../i18n/index.svelte";
import { chat } from "../../state/chat.svelte";
import { router } from "../router.svelte";
import { handleShortcut } from "../shortcuts";
import { VIEW_NAMES } from "../views";
import { onShortcut } from "./dispatch";
import { isPressed, keyText, type Keys } from "./keys";
import { ACTIONS, PART_KEYS, SHORTCUT_GROUPS } from "./list";
import { overlays } from "./overlays.svelte";
import { nameOf, sheetGroups } from "./words";

let dialog: object | null = null;
beforeEach(() => {
  setLanguage("en");
  dialog = null;
  vi.stubGlobal("document", { querySelector: () => dialog });
  router.go("audit");
  overlays.help = false;
});
afterEach(() => vi.unstubAllGlobals());

function press(key: string, more: Partial<KeyboardEvent> = {}) {
  const event = {
    key,
    code: "",
    ctrlKey: true,
    metaKey: false,
    shiftKey: false,
    altKey: false,
    defaultPrevented: false,
    preventDefault: vi.fn(),
    ...more,
  };
  onShortcut(event as unknown as KeyboardEvent);
  return event;
}

test("the sheet has a row for each action with keys, and for each key of a part, in one of its parts", () => {
  const expected = [
    ["Ctrl+1 … 7", "Go to a view, by its place"],
    ...ACTIONS.filter(({ keys, view }) => keys && !view).map((action) => [
      keyText(action.keys!),
      nameOf(action),
    ]),
    ...PART_KEYS.map((part) => [keyText(part.keys), nameOf(part)]),
  ];
  const groups = sheetGroups();
  const rows = groups.flatMap((part) => part.rows);
  const told = rows.map(({ keys, text }) => `${keys.join("+")} ${text}`);
  expect(told.sort()).toEqual(expected.map((row) => row.join(" ")).sort());
  expect(new Set(rows.map(({ text }) => text)).size).toBe(rows.length);
  expect(groups.map(({ group }) => group)).toEqual(SHORTCUT_GROUPS);
  expect(new Set(groups.map(({ title }) => title)).size).toBe(groups.length);
});

test("each action has an id and keys of its own, and each of the first nine views has a digit", () => {
  const ids = ACTIONS.map(({ id }) => id);
  const keys = ACTIONS.flatMap((action) => (action.keys ? [keyText(action.keys)] : []));
  expect([new Set(ids).size, new Set(keys).size]).toEqual([ids.length, keys.length]);
  expect(ACTIONS.flatMap(({ view }) => (view ? [view] : []))).toEqual(VIEW_NAMES);
});

test("a key press runs its action and nothing else", () => {
  expect(press("4").preventDefault).toHaveBeenCalledOnce();
  expect(router.view).toBe(VIEW_NAMES[3]);
  const before = chat.focusWanted;
  press("L");
  expect([router.view, chat.focusWanted]).toEqual(["chat", before + 1]);
  press("/", { shiftKey: true });
  expect(overlays.help).toBe(true);
  expect(press("q").preventDefault).not.toHaveBeenCalled();
  expect(press("n", { altKey: true }).preventDefault).not.toHaveBeenCalled();
  expect(press("p").preventDefault).not.toHaveBeenCalled();
});

test("a dialog has the keys, except those that count everywhere", () => {
  dialog = {};
  expect(press("1").preventDefault).not.toHaveBeenCalled();
  expect(press("0").preventDefault).toHaveBeenCalledOnce();
});

test("a part that is not open finds nothing in a conversation", () => {
  const found = vi.fn();
  const off = handleShortcut("find", found);
  press("f");
  expect(found).not.toHaveBeenCalled();
  router.go("chat");
  press("f");
  expect(found).toHaveBeenCalledOnce();
  off();
});

test("the keys of the size are found on other layouts and on the number pad", () => {
  const keysOf = (id: string): Keys => ACTIONS.find((action) => action.id === id)!.keys!;
  const isKey = (id: string, key: string, code: string, shiftKey = false): boolean =>
    isPressed(keysOf(id), { key, code, ctrlKey: true, metaKey: false, altKey: false, shiftKey });
  // English, with and without Shift; Swedish and German; the number pad.
  expect(isKey("zoom_in", "+", "Equal", true)).toBe(true);
  expect(isKey("zoom_in", "=", "Equal")).toBe(true);
  expect(isKey("zoom_in", "+", "Minus")).toBe(true);
  expect(isKey("zoom_in", "+", "NumpadAdd")).toBe(true);
  // Shift with 0 is "=" on a Swedish keyboard.
  expect(isKey("zoom_in", "=", "Digit0", true)).toBe(false);
  expect(isKey("zoom_out", "-", "Slash")).toBe(true);
  expect(isKey("zoom_out", "-", "NumpadSubtract")).toBe(true);
  expect(isKey("zoom_reset", "0", "Digit0")).toBe(true);
  // A French keyboard has letters in place of digits.
  expect(isKey("zoom_reset", "à", "Digit0")).toBe(true);
});
