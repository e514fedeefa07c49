// Keeps the focus on a page. A step that takes away the element with the focus would leave a person with a keyboard at the top of the
// window, and a screen reader without a word.

/** Moves the focus to an element whenever a step has taken the focused element away. `step` reads what changes with a step. */
export function catchFocus(step: () => unknown, target: () => HTMLElement | undefined): void {
  let isFirst = true;
  $effect(() => {
    step();
    // A page that opens chooses its focus itself.
    if (!isFirst && document.activeElement === document.body)
      target()?.focus({ preventScroll: true });
    isFirst = false;
  });
}
