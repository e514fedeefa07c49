// The items of the menu of a right click: the commands of a text field, and what can be copied at a place.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { copyItem, itemsAt, type MenuItem } from "./items";

/** An element with ancestors, as far as the menu asks for them. */
class Place {
  innerText = "";
  constructor(
    private readonly ancestors: Record<string, unknown> = {},
    private readonly attributes: Record<string, string> = {},
  ) {}
  closest(selector: string): unknown {
    const kind = Object.keys(this.ancestors).find((name) => selector.startsWith(name));
    return kind ? this.ancestors[kind] : null;
  }
  getAttribute(name: string): string | null {
    return this.attributes[name] ?? null;
  }
}

const host = vi.hoisted(() => ({ clipboard: "", refused: false }));
vi.mock("../../kit/clipboard", () => ({
  copyText: (text: string) => {
    host.clipboard = text;
    return Promise.resolve(true);
  },
}));

beforeEach(() => {
  Object.assign(host, { clipboard: "", refused: false });
  vi.stubGlobal("HTMLElement", Place);
  vi.stubGlobal("InputEvent", class {});
  vi.stubGlobal("document", { execCommand: () => false });
  vi.stubGlobal("navigator", {
    clipboard: {
      readText: () =>
        host.refused ? Promise.reject(new Error("no")) : Promise.resolve(host.clipboard),
    },
  });
});
afterEach(() => vi.unstubAllGlobals());

function fieldWith(value: string, start: number, end: number, more: object = {}) {
  const field = {
    value,
    selectionStart: start,
    selectionEnd: end,
    type: "textarea",
    readOnly: false,
    disabled: false,
    focus: vi.fn(),
    select: vi.fn(),
    dispatchEvent: vi.fn(),
    setRangeText(text: string, from: number, to: number) {
      field.value = field.value.slice(0, from) + text + field.value.slice(to);
    },
    ...more,
  };
  return field;
}
const at = (ancestors: Record<string, unknown>, selected = "", message: string | null = null) =>
  itemsAt(new Place(ancestors) as unknown as Element, selected, () =>
    message === null ? [] : [copyItem("menu.copy_message", message)],
  );
const named = (items: MenuItem[], name: string): MenuItem =>
  items.find((item) => item.name === name)!;
const able = (items: MenuItem[]): string[] =>
  items.filter((item) => !item.isDisabled).map(({ name }) => name);

test("a text field has its four commands, and those that can do nothing are disabled", () => {
  const items = at({ textarea: fieldWith("two words", 0, 3) }, "elsewhere", "a message");
  expect(items.map(({ name }) => name)).toEqual([
    "menu.cut",
    "common.copy",
    "menu.paste",
    "menu.select_all",
  ]);
  expect(able(items)).toHaveLength(4);
  expect(able(at({ textarea: fieldWith("", 0, 0) }))).toEqual(["menu.paste"]);
  expect(able(at({ textarea: fieldWith("fixed", 0, 5, { readOnly: true }) }))).toEqual([
    "common.copy",
    "menu.select_all",
  ]);
});

test("a key is never copied out of its field", () => {
  expect(able(at({ textarea: fieldWith("sk-1", 0, 4, { type: "password" }) }))).toEqual([
    "menu.paste",
    "menu.select_all",
  ]);
});

test("cut and paste change the field and tell it", async () => {
  const field = fieldWith("two words", 0, 4);
  await named(at({ textarea: field }), "menu.cut").run();
  expect([host.clipboard, field.value]).toEqual(["two ", "words"]);
  expect(field.dispatchEvent).toHaveBeenCalledOnce();
  Object.assign(field, { selectionStart: 0, selectionEnd: 0 });
  expect(await named(at({ textarea: field }), "menu.paste").run()).toBe(true);
  expect(field.value).toBe("two words");
});

test("a clipboard that cannot be read is said", async () => {
  host.refused = true;
  const paste = named(at({ textarea: fieldWith("", 0, 0) }), "menu.paste");
  expect([await paste.run(), paste.failed]).toEqual([false, "menu.paste_failed"]);
});

test("a place offers the selection, its link, its cell and its message, and elsewhere there is no menu", async () => {
  const cell = new Place();
  cell.innerText = " 1,240 \n";
  const link = new Place({}, { href: "https://example.com/a" });
  const items = at({ td: cell, "a[href]": link }, "some words", "**Bold** answer");
  expect(items.map(({ name }) => name)).toEqual([
    "menu.copy_selection",
    "menu.copy_link",
    "menu.copy_cell",
    "menu.copy_message",
  ]);
  const copied: string[] = [];
  for (const item of items) {
    await item.run();
    copied.push(host.clipboard);
  }
  expect(copied).toEqual(["some words", "https://example.com/a", "1,240", "**Bold** answer"]);
  expect(at({})).toEqual([]);
});
