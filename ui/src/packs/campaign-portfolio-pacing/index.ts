// The view of the pacing pack: spend against budget.
import type { PackCode } from "../types";
import PacingResult from "./PacingResult.svelte";
import { shownRows } from "./shown";

const pacing: PackCode = {
  views: { pacing: { component: PacingResult, shown: shownRows } },
};

export default pacing;
