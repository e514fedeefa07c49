// Readable forms of names: those that programs use, such as names of arguments, and paths. Pure.

/** Plain names only: a name with other letters or signs stays as it is, so that no two of them look alike. */
const PLAIN = /^[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*$/;
const ABBREVIATIONS = new Set(
  "api csv html http https id ip json pdf sql uri url utc uuid xml".split(" "),
);

function word(part: string): string {
  if (ABBREVIATIONS.has(part.toLowerCase())) return part.toUpperCase();
  return /^[A-Z0-9]{2,}$/.test(part) ? part : part.toLowerCase();
}

/** Returns a name as words: `clientIp` and `client_ip` are "Client IP". */
export function readableName(name: string): string {
  if (!PLAIN.test(name)) return name;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .split(/[\s._-]+/)
    .map(word)
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the name itself if its readable form differs by more than capitals; else null. */
export function rawName(name: string): string | null {
  return readableName(name).toLowerCase() === name.toLowerCase() ? null : name;
}

/** Returns the name of a file without its folders. */
export const baseName = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;
