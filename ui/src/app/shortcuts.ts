// The window's keyboard shortcuts. Views listen for their own shortcuts by name.
import { call } from "../platform";
import { router } from "./router.svelte";
import { VIEW_NAMES } from "./views";

export type ShortcutEvent = "new" | "search" | "stop";
const listeners = new Map<ShortcutEvent, () => void>();

/** Registers the action of a shortcut. Returns a function that removes the action again. */
export function handleShortcut(name: ShortcutEvent, run: () => void): () => void {
  listeners.set(name, run);
  return () => {
    if (listeners.get(name) === run) listeners.delete(name);
  };
}

export function onShortcut(event: KeyboardEvent, own: { help: () => void }): void {
  // A dialog handles the keyboard itself.
  if (document.querySelector("dialog[open]")) return;
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  const view = VIEW_NAMES[Number(key) - 1];
  if (view) router.go(view);
  else if (key === "n" || key === "k") {
    router.go("chat");
    queueMicrotask(() => listeners.get(key === "n" ? "new" : "search")?.());
  } else if (key === ".") listeners.get("stop")?.();
  else if (key === "/") own.help();
  else if (key === "j")
    void call("approvals_list", { include_decided: false }).then(({ approvals }) => {
      const first = approvals[0];
      return first && call("approval_open", { id: first.id });
    });
  else return;
  event.preventDefault();
}
