// The components of others that the pages contain, with their licences: the module `virtual:components`, made when the pages are built.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const NAME = "virtual:components";

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
}

/** A component of others. */
export interface Component {
  name: string;
  version: string;
  license: string;
  /** The texts of its licence files; empty if it has none. */
  text: string;
}

/** Returns all components that are no tools of the build, by name. */
export function readComponents(folder: string): Component[] {
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  return Object.entries(lock.packages)
    .filter(([place, { dev }]) => place !== "" && dev !== true)
    .map(([place, { version = "", license = "" }]) => ({
      name: place.split("node_modules/").at(-1) ?? place,
      version,
      license,
      text: licenceTexts(join(folder, place)),
    }))
    .sort((a, b) => a.name.localeCompare(b.name, "en"));
}

function licenceTexts(place: string): string {
  if (!existsSync(place)) return "";
  const files = readdirSync(place).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
  return files
    .sort()
    .map((name) => readFileSync(join(place, name), "utf8").trim())
    .join("\n\n");
}

export const components: Plugin = {
  name: "components",
  resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
  load: (id) =>
    id === `\0${NAME}`
      ? `export default ${JSON.stringify(readComponents(import.meta.dirname))};`
      : null,
};
