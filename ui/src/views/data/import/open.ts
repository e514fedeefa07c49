// The imports that are open. They outlive their page, so that a person can look at another view while a file is imported.
import { sources } from "../../../state/sources.svelte";
import { FileImport } from "./import.svelte";

const open = new Map<string, FileImport>();

/** Returns the import of a file. It is begun if it is new. */
export function importOf(path: string): FileImport {
  const known = open.get(path);
  if (known) return known;
  const file = new FileImport(path);
  open.set(path, file);
  void file.survey().then(() => hurry(file));
  return file;
}

/** Leaves a file: it is imported, or the person does not want it. */
export function leaveImport(path: string): void {
  open.get(path)?.close();
  open.delete(path);
  sources.leave(path);
}

/** Leaves all files that wait. */
export function leaveImports(): void {
  for (const path of sources.waiting) leaveImport(path);
}

/** Imports a file without a look at it, if the person wants this and nothing is open. */
async function hurry(file: FileImport): Promise<void> {
  if (!sources.isHurried) return;
  if (file.obstacle === "same") leaveHurried(file.path, false);
  // A new source has a name and columns to look at.
  else if (file.obstacle === null && file.result?.is_new_source === false) {
    await file.store();
    if (file.phase === "stored" && !file.error) leaveHurried(file.path, true);
  }
}

function leaveHurried(path: string, isStored: boolean): void {
  sources.hurried = [...sources.hurried, { path, isStored }];
  leaveImport(path);
}
