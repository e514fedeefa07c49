// Combinations of keys: whether an event is one, and how it is written for a person. Knows no action.

/** A combination of keys. */
export interface Keys {
  /** The `key` of the event, in lower case. */
  key: string;
  /** Whether Ctrl is held, or the command key of a Mac. */
  ctrl?: boolean;
  /** Whether Shift is held. Asked of letters only: some layouts need Shift for a sign or a digit. */
  shift?: boolean;
  /** Whether Alt is held. Only parts of the window use it, because AltGr types signs. */
  alt?: boolean;
  /** Further keys that count without Shift, for layouts that have the sign above another one. */
  plain?: readonly string[];
  /** Places on the keyboard that count without Shift, for layouts without the digit there. */
  codes?: readonly string[];
}

type KeyPress = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

/** Whether a key press is this combination. */
export function isPressed(keys: Keys, event: KeyPress): boolean {
  // AltGr, which types signs, is Ctrl with Alt on some systems.
  if (event.altKey || (event.ctrlKey || event.metaKey) !== (keys.ctrl ?? false)) return false;
  const key = event.key.toLowerCase();
  if (key === keys.key) return !/^\p{L}$/u.test(key) || event.shiftKey === (keys.shift ?? false);
  if (event.shiftKey) return false;
  return (keys.plain?.includes(key) ?? false) || (keys.codes?.includes(event.code) ?? false);
}

const NAMES: Readonly<Record<string, string>> = {
  delete: "Del",
  enter: "Enter",
  end: "End",
  home: "Home",
  tab: "Tab",
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
};

/** Returns the keys as they stand on a keyboard, such as `["Ctrl", "Shift", "P"]`. */
export function keyNames({ key, ctrl = false, alt = false, shift = false }: Keys): string[] {
  return [
    ...(ctrl ? ["Ctrl"] : []),
    ...(alt ? ["Alt"] : []),
    ...(shift ? ["Shift"] : []),
    NAMES[key] ?? key.toLocaleUpperCase("en"),
  ];
}

/** Returns the keys in one text, such as `Ctrl+Shift+P`. */
export const keyText = (keys: Keys): string => keyNames(keys).join("+");
