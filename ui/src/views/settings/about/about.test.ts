// The news, the licences, and the text of the diagnostics.
import { join } from "node:path";
import components from "virtual:components";
import { expect, test } from "vitest";
import { readComponents } from "../../../../components";
import { cratesOf, lockedCrates, type Metadata } from "../../../../crates";
import changelog from "../../../../../CHANGELOG.md?raw";
import { setLanguage } from "../../../i18n/index.svelte";
import type { DoctorResponse } from "../../../platform/generated/DoctorResponse";
import { newestChanges, piecesOf } from "./changes";
import { diagnosticsText } from "./diagnostics";

test("the newest section with lines is shown, by its groups", () => {
  const text =
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 – 2026-12-01\n\n### Added\n\n- One\n  and more.\n- Two\n\n### Fixed\n\n## 0.1.0\n\n- Old\n";
  const found = newestChanges(text)!;
  expect(found.name).toBe("0.2.0 – 2026-12-01");
  expect(found.groups.map(({ name, lines }) => [name, lines.length])).toEqual([["Added", 2]]);
  expect(found.groups[0]?.lines[0]).toEqual([{ text: "One and more.", kind: "plain" }]);
  expect(newestChanges("# Changelog\n")).toBeNull();
});

test("the real changelog is read, and no mark of Markdown is left in its pieces", () => {
  const found = newestChanges(changelog)!;
  expect(found.groups.length).toBeGreaterThan(0);
  expect(piecesOf("*Data* takes `csign data *.csv` from [a page](docs/data.md).")).toEqual([
    { text: "Data", kind: "strong" },
    { text: " takes ", kind: "plain" },
    { text: "csign data *.csv", kind: "code" },
    { text: " from a page.", kind: "plain" },
  ]);
});

test("each component of the pages has a licence, and nearly each its text", () => {
  const found = readComponents(join(import.meta.dirname, "../../../.."));
  expect(found.map(({ name }) => name)).toContain("svelte");
  expect(found.map(({ name }) => name)).not.toContain("vitest");
  expect(components).toEqual(found);
  expect(found.filter(({ license }) => license === "")).toEqual([]);
  expect(found.find(({ name }) => name === "vega")?.text).toContain("Redistribution");
});

test("the libraries of the programs are those of no test and no tool, and have each text once", () => {
  const of = (name: string, path: string, source: string | null) => ({
    id: name,
    name,
    version: "1.0.0",
    license: "MIT",
    source,
    manifest_path: `/${path}/${name}/Cargo.toml`,
  });
  const needs = (id: string, ...deps: [string, string | null][]) => ({
    id,
    deps: deps.map(([pkg, kind]) => ({ pkg, dep_kinds: [{ kind }] })),
  });
  const metadata: Metadata = {
    packages: [
      of("store", "home/crates", null),
      of("kit", "home/tests", null),
      of("sqlite", "registry", "r"),
      of("deep", "registry", "r"),
      of("cc", "registry", "r"),
      of("driver", "registry", "r"),
    ],
    workspace_root: "/home",
    workspace_members: ["store", "kit"],
    resolve: {
      nodes: [
        needs("store", ["sqlite", null], ["cc", "build"]),
        needs("sqlite", ["deep", null]),
        needs("kit", ["driver", null]),
      ],
    },
  };
  const found = cratesOf(metadata, (folder) =>
    folder.endsWith("deep") ? ["MIT\n text"] : ["MIT text", `NOTICE of ${folder}`],
  );
  expect(found.crates.map(({ name, texts }) => [name, texts])).toEqual([
    ["deep", [0]],
    ["sqlite", [0, 1]],
  ]);
  expect(found.texts).toEqual(["MIT\n text", "NOTICE of /registry/sqlite"]);
  const lock =
    '[[package]]\nname = "own"\nversion = "0.1.0"\n\n[[package]]\nname = "cc"\nversion = "1.2.0"\nsource = "registry"\n';
  expect(lockedCrates(lock).crates.map(({ name }) => name)).toEqual(["cc"]);
});

test("the diagnostics have version and checks, and no folder of a person", () => {
  setLanguage("en");
  const checks = [
    { name: "Log", state: "ok", message: "The log is fine." },
    { name: "Disk", state: "warning", message: "Little room.", hint: "Delete something." },
  ] as unknown as DoctorResponse["checks"];
  const text = diagnosticsText("0.1.0", "Agent/1", checks);
  expect(text.split("\n")).toEqual([
    "Countersign 0.1.0",
    "Agent/1",
    "Fine: Log – The log is fine.",
    "Attention: Disk – Little room. Delete something.",
  ]);
});
