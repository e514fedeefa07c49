// Menus: actions that stand together, and what screen readers call them.
import { expect, test } from "vitest";
import { partsOf, roleOf, type MenuAction } from "./menuAction";

const action = (name: string, rest: Partial<MenuAction> = {}): MenuAction => ({
  name,
  run: () => {},
  ...rest,
});

test("actions of one group that follow each other stand together", () => {
  const parts = partsOf([
    action("up", { group: "Sort", checked: true }),
    action("down", { group: "Sort", checked: false }),
    action("hide"),
    action("show"),
  ]);
  expect(parts.map(({ group, actions }) => [group, actions.map(({ name }) => name)])).toEqual([
    ["Sort", ["up", "down"]],
    [null, ["hide", "show"]],
  ]);
  expect(partsOf([])).toEqual([]);
});

test("a choice of a group is one of several, and another choice is on or off", () => {
  expect(roleOf(action("up", { group: "Sort", checked: false }))).toBe("menuitemradio");
  expect(roleOf(action("short", { checked: true }))).toBe("menuitemcheckbox");
  expect(roleOf(action("hide"))).toBe("menuitem");
});
