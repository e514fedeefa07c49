// A click or Enter at a place of a chart opens the rows behind it.
import { t } from "../../i18n/index.svelte";
import type { Drilling } from "../drill/opening";
import type { Plan } from "./types";

/** Opens the rows behind a place. Returns why it cannot be opened; null if it is. */
export function openPlace({ opens }: Plan, stop: number, drilling: Drilling): string | null {
  const opening = opens[stop];
  if (opening === undefined) return null;
  if (opening === "others") return t("results.drill_sum");
  if (opening === "gap") return t("results.drill_gap");
  const refusal = drilling.refusal(opening.values);
  if (refusal === null) drilling.open(opening);
  return refusal;
}
