// Saves a chart as a picture: the chart that is shown, with its heading and with what is said below it.
import { platform } from "../../platform";
import { fileName } from "../grid/saving";
import type { Plan } from "./types";
import { specOf } from "./spec";
import type { ChartTheme } from "./theme.svelte";

export type PictureKind = "svg" | "png";

/** Returns a chart as a picture. `width` is in pixels. */
export async function pictureOf(
  kind: PictureKind,
  plan: Plan,
  theme: ChartTheme,
  title: string,
  width: number,
): Promise<Uint8Array> {
  const spec = specOf(plan, theme, { width, title: { text: title, notes: plan.notes } });
  // Its libraries are large, and most conversations have no chart.
  const { pngOf, svgOf } = await import("./drawing");
  return kind === "svg" ? svgOf(spec) : pngOf(spec);
}

/** Saves a chart where the user says. Returns the path, or null if the user chose none. */
export async function savePicture(
  kind: PictureKind,
  plan: Plan,
  theme: ChartTheme,
  title: string,
  width: number,
): Promise<string | null> {
  const content = await pictureOf(kind, plan, theme, title, width);
  return platform().saveFile(`${fileName(title)}.${kind}`, content);
}
