// Which part of the window carries out a shortcut. Views register their own actions by name; the list of all actions is in `actions/`.

export type ShortcutEvent = "new" | "search" | "find" | "stop";
const listeners = new Map<ShortcutEvent, () => void>();

/** Registers the action of a shortcut. Returns a function that removes the action again. */
export function handleShortcut(name: ShortcutEvent, run: () => void): () => void {
  listeners.set(name, run);
  return () => {
    if (listeners.get(name) === run) listeners.delete(name);
  };
}

/** Whether a part of the window carries out this shortcut now. */
export const isHandled = (name: ShortcutEvent): boolean => listeners.has(name);

/** Carries out a shortcut, if a part of the window does so. */
export function runShortcut(name: ShortcutEvent): void {
  listeners.get(name)?.();
}
