// The views that packs have in the window, and those that manifests name.
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isDrawn, packs, standingViews, viewOf } from "./registry";

const tools = join(import.meta.dirname, "../../../tools");

interface Manifest {
  id: string;
  tools?: { tools: { view?: { shape: string; pack?: string; view?: string } | string }[] };
}
const manifests = readdirSync(tools)
  .map((folder) => join(tools, folder, "pack.json"))
  .filter((file) => existsSync(file))
  .map((file) => JSON.parse(readFileSync(file, "utf8")) as Manifest);

test("the views that manifests name are exactly the views that have code in the window", () => {
  const named = manifests.flatMap(({ tools }) =>
    (tools?.tools ?? []).flatMap(({ view }) =>
      typeof view === "object" && view.shape === "named" ? [`${view.pack}/${view.view}`] : [],
    ),
  );
  const drawn = Object.entries(packs).flatMap(([pack, { views }]) =>
    Object.keys(views).map((view) => `${pack}/${view}`),
  );
  expect([...new Set(named)].sort()).toEqual(drawn.sort());
});

test("no two packs have a view of the same name", () => {
  const names = Object.values(packs).flatMap(({ views }) => Object.keys(views));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(viewOf({ shape: "named", view: name })).not.toBeNull();
});

test("a view that no pack has is not drawn", () => {
  expect(viewOf({ shape: "named", view: "map" })).toBeNull();
  expect(viewOf({ shape: "named", pack: "maps", view: "cart" })).toBeNull();
  expect(viewOf({ shape: "table" })).toBeNull();
});

test("an old result of a view whose pack is gone is plain", () => {
  const gone = { shape: "named", pack: "campaign-portfolio-pacing", view: "pacing" } as const;
  expect([viewOf(gone), isDrawn(gone)]).toEqual([null, false]);
  const others = [
    { shape: "plain" },
    { shape: "table" },
    { shape: "named", view: "cart" },
  ] as const;
  expect(others.map((view) => isDrawn(view))).toEqual([false, true, true]);
});

test("a standing view has a panel", () => {
  expect(standingViews().map(([name]) => name)).toEqual(["cart"]);
});
