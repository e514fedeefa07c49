// The type of the actions of a menu, which components outside the kit make, too.
/** An action of a menu. */
export interface MenuAction {
  name: string;
  /** Keys that do the same. */
  keys?: string;
  /** Why it cannot be used now. */
  whyNot?: string;
  /** Whether a choice is chosen. Absent for an action that is done and leaves no choice. */
  checked?: boolean;
  /** The name of the group that the action belongs to. One of the choices of a group is chosen. */
  group?: string;
  run: () => void;
}

/** Actions that stand together. */
export interface MenuPart {
  /** The name of the group; null for actions without one. */
  group: string | null;
  actions: MenuAction[];
}

/** Returns the parts of a menu: actions of one group that follow each other stand together. */
export function partsOf(actions: readonly MenuAction[]): MenuPart[] {
  const parts: MenuPart[] = [];
  for (const action of actions) {
    const group = action.group ?? null;
    const last = parts.at(-1);
    if (last && last.group === group) last.actions.push(action);
    else parts.push({ group, actions: [action] });
  }
  return parts;
}

/** Returns the role of an action for screen readers. */
export function roleOf({
  checked,
  group,
}: MenuAction): "menuitem" | "menuitemradio" | "menuitemcheckbox" {
  if (checked === undefined) return "menuitem";
  return group === undefined ? "menuitemcheckbox" : "menuitemradio";
}
