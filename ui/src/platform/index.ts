// The host of this window: the desktop app.
import { inDesktop, desktopPlatform } from "./tauri";
import type { Platform } from "./types";

export * from "./types";

let current: Platform | undefined;

/** Connects this window to its host. Must be called once per window before anything is shown. */
export function startPlatform(kind: Platform["window"]): Platform {
  if (!inDesktop()) throw new Error("This page is a part of the Countersign desktop app.");
  current = desktopPlatform(kind);
  return current;
}

/** Returns the host of this window. */
export function platform(): Platform {
  if (!current) throw new Error("the platform has not been started");
  return current;
}

/** Short form of `platform().call`. */
export const call: Platform["call"] = (command, params) => platform().call(command, params);
