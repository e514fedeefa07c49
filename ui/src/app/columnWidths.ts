// Keeps the widths of columns with the settings, so that tables look the same after a restart.
import { keepChosen, storedChosen } from "../results/grid/chosen";
import { app } from "./app.svelte";

/** The time without a change after which widths are stored. A drag changes them many times. */
const PAUSE = 800;

/** Begins with the stored widths, and stores those that a person chooses. */
export function keepColumnWidths(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  keepChosen(app.settings?.settings.column_widths ?? {}, () => {
    clearTimeout(timer);
    timer = setTimeout(() => void store(), PAUSE);
  });
}

async function store(): Promise<void> {
  // A person repairs a settings file that has a fault. The width of a column does not replace it.
  if (!app.settings || app.settingsFault) return;
  // Widths that cannot be stored now are stored with the next change.
  await app.save((settings) => (settings.column_widths = storedChosen())).catch(() => {});
}
