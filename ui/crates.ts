// The libraries of the programs with their licences: the module `virtual:crates`, made when the pages are built. Cargo is asked without a
// network. If it does not know the libraries yet, the lock file names them.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const NAME = "virtual:crates";
const TARGETS: Partial<Record<NodeJS.Architecture, string>> = {
  x64: "x86_64-unknown-linux-gnu",
  arm64: "aarch64-unknown-linux-gnu",
};

/** The part of what `cargo metadata` says that is needed here. */
export interface Metadata {
  packages: {
    id: string;
    name: string;
    version: string;
    license: string | null;
    /** The registry; null for a package of this repository. */
    source: string | null;
    manifest_path: string;
  }[];
  workspace_root: string;
  workspace_members: string[];
  resolve: {
    nodes: { id: string; deps: { pkg: string; dep_kinds: { kind: string | null }[] }[] }[];
  };
}

/** A library of the programs. */
export interface Crate {
  name: string;
  version: string;
  license: string;
  /** The places of its licence texts in the list of all texts. */
  texts: number[];
}

/** The libraries, with each text once. */
export interface Crates {
  crates: Crate[];
  texts: string[];
}

/** Returns the packages that the shipped programs contain: no tests, and no tools of the build. */
export function shippedPackages(metadata: Metadata): Metadata["packages"] {
  const { packages, workspace_root, workspace_members, resolve } = metadata;
  const byId = new Map(packages.map((one) => [one.id, one]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const isTest = (id: string): boolean =>
    /^\/(tests|benches)\//.test(byId.get(id)?.manifest_path.slice(workspace_root.length) ?? "");
  const open = workspace_members.filter((id) => !isTest(id));
  const found = new Set<string>();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    const deps = nodes.get(id)?.deps ?? [];
    open.push(
      ...deps
        .filter((one) => one.dep_kinds.some(({ kind }) => kind === null))
        .map((one) => one.pkg),
    );
  }
  return packages
    .filter(({ id, source }) => source !== null && found.has(id))
    .sort((a, b) => a.name.localeCompare(b.name, "en"));
}

/** Returns the libraries with their texts. `read` returns the licence texts of a folder. */
export function cratesOf(metadata: Metadata, read: (folder: string) => string[]): Crates {
  const places = new Map<string, number>();
  const texts: string[] = [];
  const placeOf = (text: string): number => {
    // The same licence is often wrapped in another way.
    const words = text.replace(/\s+/g, " ");
    const known = places.get(words) ?? texts.push(text) - 1;
    places.set(words, known);
    return known;
  };
  const crates = shippedPackages(metadata).map(({ name, version, license, manifest_path }) => ({
    name,
    version,
    license: license ?? "",
    texts: read(dirname(manifest_path)).map(placeOf),
  }));
  return { crates, texts };
}

/** Returns the libraries by the lock file, without licences. */
export function lockedCrates(lock: string): Crates {
  const found = lock.matchAll(/name = "([^"]+)"\nversion = "([^"]+)"\nsource = /g);
  const crates = [...found].map(([, name = "", version = ""]) => ({
    name,
    version,
    license: "",
    texts: [],
  }));
  return { crates, texts: [] };
}

function licenceTexts(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((file) => file.isFile() && /^(licen[cs]e|notice|copying|unlicense)/i.test(file.name))
    .map(({ name }) => readFileSync(join(folder, name), "utf8").trim());
}

function readCrates(root: string): Crates {
  const target = TARGETS[process.arch];
  const rest = target === undefined ? [] : ["--filter-platform", target];
  const args = ["metadata", "--format-version", "1", "--locked", "--offline", ...rest];
  try {
    const said = execFileSync("cargo", args, {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return cratesOf(JSON.parse(said) as Metadata, licenceTexts);
  } catch {
    return lockedCrates(readFileSync(join(root, "Cargo.lock"), "utf8"));
  }
}

export const crates: Plugin = {
  name: "crates",
  resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
  load(id) {
    if (id !== `\0${NAME}`) return null;
    const found = readCrates(join(import.meta.dirname, ".."));
    if (found.texts.length === 0)
      this.warn("cargo does not know the licences of the libraries yet");
    return `export default ${JSON.stringify(found)};`;
  },
};
