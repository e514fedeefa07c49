// The size of everything in the windows. It is a setting, and the shell applies it to all windows.
import { app } from "./app.svelte";

/** The sizes that keys and settings offer, in percent. */
export const ZOOMS = [80, 90, 100, 110, 125, 150, 175, 200] as const;
const NORMAL = 100;

/** Returns the next size in a direction; the same size if there is none. */
export function nextZoom(now: number, way: 1 | -1): number {
  const next = way > 0 ? ZOOMS.find((size) => size > now) : ZOOMS.findLast((size) => size < now);
  return next ?? now;
}

/** The size that is being stored. Several key presses in a row count from it. */
let wanted: number | null = null;

async function storeZoom(percent: number): Promise<void> {
  // A person repairs a settings file that has a fault. A size does not replace it.
  if (!app.settings || app.settingsFault) return;
  const isStoring = wanted !== null;
  wanted = percent;
  if (isStoring) return;
  try {
    while (app.settings.settings.zoom !== wanted) {
      const next: number = wanted;
      await app.save((settings) => (settings.zoom = next));
    }
  } catch {
    // The window keeps its size, which the settings page can change, too, and says why not.
  } finally {
    wanted = null;
  }
}

/** Makes everything larger or smaller by one step. */
export function stepZoom(way: 1 | -1): Promise<void> {
  return storeZoom(nextZoom(wanted ?? app.settings?.settings.zoom ?? NORMAL, way));
}

export const resetZoom = (): Promise<void> => storeZoom(NORMAL);
