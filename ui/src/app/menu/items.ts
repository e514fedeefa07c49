// The items of the menu of a right click at a place: the commands of a text field, or what can be copied there. The webview's own menu,
// with Back and Reload, is never shown.
import type { MessageKey } from "../../i18n/index.svelte";
import { copyText } from "../../kit/clipboard";

export interface MenuItem {
  name: MessageKey;
  /** Keys that do the same. */
  keys?: string;
  isDisabled?: boolean;
  /** Why it cannot be used now, if a person may not know. */
  reason?: MessageKey;
  /** Does the work. Returns false if it could not be done. */
  run: () => Promise<boolean>;
  /** The advice if it could not be done. */
  failed?: MessageKey;
}

export type TextField = HTMLInputElement | HTMLTextAreaElement;

const FIELDS =
  "textarea, input:is([type=text], [type=search], [type=url], [type=email], [type=number], [type=tel], [type=password], :not([type]))";
const CELLS = "td, th, [role=gridcell], [role=cell], [role=columnheader], [role=rowheader]";

const fieldAt = (target: Element): TextField | null => target.closest<TextField>(FIELDS);

/** Returns a text as a reader sees it: hidden parts are left out. */
const textOf = (element: Element): string =>
  (element instanceof HTMLElement ? element.innerText : element.textContent).trim();

/** Returns a command that copies a text. */
export function copyItem(name: MessageKey, text: string): MenuItem {
  return { name, run: () => copyText(text), failed: "common.copy_failed" };
}

/** Puts a text in place of the selection, so that *Undo* takes it back where the webview allows. */
function replaceSelection(field: TextField, text: string): void {
  field.focus();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way that keeps the field's own undo
  const isDone = document.execCommand(text === "" ? "delete" : "insertText", false, text);
  if (isDone) return;
  field.setRangeText(text, field.selectionStart ?? 0, field.selectionEnd ?? 0, "end");
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

async function paste(field: TextField): Promise<boolean> {
  try {
    const text = await navigator.clipboard.readText();
    if (text !== "") replaceSelection(field, text);
    return true;
  } catch {
    return false;
  }
}

async function cut(field: TextField, selected: string): Promise<boolean> {
  if (!(await copyText(selected))) return false;
  replaceSelection(field, "");
  return true;
}

function fieldItems(field: TextField): MenuItem[] {
  const selected = field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0);
  const isSecret = field.type === "password";
  const isFixed = field.readOnly || field.disabled;
  const isNothing = selected === "" || isSecret;
  return [
    {
      name: "menu.cut",
      keys: "Ctrl+X",
      isDisabled: isNothing || isFixed,
      run: () => cut(field, selected),
      failed: "common.copy_failed",
    },
    { ...copyItem("common.copy", selected), keys: "Ctrl+C", isDisabled: isNothing },
    {
      name: "menu.paste",
      keys: "Ctrl+V",
      isDisabled: isFixed,
      run: () => paste(field),
      failed: "menu.paste_failed",
    },
    {
      name: "menu.select_all",
      keys: "Ctrl+A",
      isDisabled: field.value === "",
      run: () => {
        field.focus();
        field.select();
        return Promise.resolve(true);
      },
    },
  ];
}

/** Returns what the menu offers at an element. `selected` is the selected text of the page, and `ofMessage` returns the commands of the
 *  message that an element belongs to. */
export function itemsAt(
  target: Element,
  selected: string,
  ofMessage: (target: Element) => MenuItem[],
): MenuItem[] {
  const field = fieldAt(target);
  if (field) return fieldItems(field);
  const items: MenuItem[] = [];
  if (selected.trim() !== "")
    items.push({ ...copyItem("menu.copy_selection", selected), keys: "Ctrl+C" });
  const link = target.closest("a[href]")?.getAttribute("href");
  if (link && !link.startsWith("#")) items.push(copyItem("menu.copy_link", link));
  const cell = target.closest(CELLS);
  if (cell && textOf(cell) !== "") items.push(copyItem("menu.copy_cell", textOf(cell)));
  return [...items, ...ofMessage(target)];
}

/** Returns the element that the keyboard is at: the active cell of a table, or the focused element. */
export function elementOfKeyboard(): Element | null {
  const focused = document.activeElement;
  // The list of a field is not what the person writes in.
  if (focused?.matches(FIELDS)) return focused;
  const active = focused?.getAttribute("aria-activedescendant");
  return (active ? document.getElementById(active) : null) ?? focused;
}
