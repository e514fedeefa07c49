// The type of the actions of a menu, which components outside the kit make, too.
/** An action of a menu. */
export interface MenuAction {
  name: string;
  /** Keys that do the same. */
  keys?: string;
  run: () => void;
}
