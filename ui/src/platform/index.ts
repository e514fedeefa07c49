// Chooses the host: the desktop app, or in a plain browser the in-memory one (development and tests only).
import { inDesktop, desktopPlatform } from "./tauri";
import type { Platform } from "./types";

export * from "./types";

let current: Platform | undefined;

/** Must be awaited once per window before anything is shown. */
export async function startPlatform(kind: Platform["window"]): Promise<Platform> {
  if (inDesktop()) {
    current = desktopPlatform(kind);
  } else if (import.meta.env.DEV || import.meta.env.MODE === "fake") {
    const { fakePlatform } = await import("./fake");
    current = fakePlatform(kind, new URLSearchParams(location.search));
  } else {
    throw new Error("This page is a part of the Countersign desktop app.");
  }
  return current;
}

/** The host of this window. */
export function platform(): Platform {
  if (!current) throw new Error("the platform has not been started");
  return current;
}

/** Short form of `platform().call`. */
export const call: Platform["call"] = (command, params) => platform().call(command, params);
