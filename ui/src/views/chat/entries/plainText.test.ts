// The text of a rendered answer: lines, rows, cells, code, and no buttons.
import { expect, test } from "vitest";
import { plainText, type ReadNode } from "./plainText";

const text = (value: string): ReadNode => ({
  nodeType: 3,
  nodeName: "#text",
  nodeValue: value,
  childNodes: [],
});
const element = (nodeName: string, ...children: (ReadNode | string)[]): ReadNode => ({
  nodeType: 1,
  nodeName,
  nodeValue: null,
  childNodes: children.map((child) => (typeof child === "string" ? text(child) : child)),
});

test("paragraphs, lists and tables have their lines", () => {
  const row = (...cells: string[]) =>
    element("tr", ...cells.map((cell) => element("td", cell)), "\n");
  const answer = element(
    "div",
    element("p", "Spend of\n  ", element("strong", "Bluebell"), "."),
    "\n",
    element("ul", element("li", "one"), element("li", "two")),
    element("table", element("tbody", row("Week", "Spend"), row("45", "1,200"))),
  );
  expect(plainText(answer)).toBe("Spend of Bluebell.\n\n- one\n- two\n\nWeek\tSpend\n45\t1,200");
});

test("code keeps its lines and spaces, and the button of a block is left out", () => {
  const block = element(
    "div",
    element("button", "Copy"),
    element("pre", element("code", "if x:\n    y()\n")),
  );
  expect(plainText(element("div", element("p", "So:"), block))).toBe("So:\n\nif x:\n    y()");
});

test("hidden parts are left out", () => {
  const hidden = { ...element("p", "twice"), hidden: true };
  expect(plainText(element("div", element("p", "once"), hidden))).toBe("once");
});
