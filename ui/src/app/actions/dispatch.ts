// Runs the action of a key press.
import { isPressed } from "./keys";
import { ACTIONS, isAvailable } from "./list";

/** Runs the action whose keys were pressed, and keeps the webview from doing something else with them. */
export function onShortcut(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  // A dialog handles the keyboard itself.
  const isDialog = document.querySelector("dialog[open]") !== null;
  const action = ACTIONS.find(
    ({ keys, isEverywhere = false }) =>
      keys && isPressed(keys, event) && (isEverywhere || !isDialog),
  );
  if (!action) return;
  event.preventDefault();
  if (isAvailable(action)) action.run();
}
