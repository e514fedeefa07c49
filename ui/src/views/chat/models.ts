// Which models can answer the next message, and where each of them runs. Pure.
import type { ModelSettings } from "../../platform/generated/ModelSettings";
import { isOfThisComputer, isSaidToRun } from "../settings/providers";

/** Where a model runs: the offline model is a part of the app. */
export type ModelPlace = "offline" | "here" | "cloud";

/** A model that a person can choose. */
export interface ModelChoice {
  provider: string;
  /** The model's name; empty for the offline model. */
  name: string;
  place: ModelPlace;
  isChosen: boolean;
}

const OFFLINE = "offline";

function placeOf(provider: string, { base_url, runs_here }: ModelSettings): ModelPlace {
  if (provider === OFFLINE) return "offline";
  // A program at an address of this computer may send everything on, unless a person said that the model runs there.
  return isOfThisComputer(base_url) && isSaidToRun(runs_here, base_url) ? "here" : "cloud";
}

/** Returns the models that can be chosen. `connected` is the provider that was in use before the offline model was chosen here; the
 *  settings keep its address and model. */
export function modelChoices(settings: ModelSettings, connected: string | null): ModelChoice[] {
  const isOffline = settings.provider === OFFLINE;
  const provider = isOffline ? connected : settings.provider;
  const choices: ModelChoice[] = [];
  if (provider !== null)
    choices.push({
      provider,
      name: settings.model,
      place: placeOf(provider, settings),
      isChosen: !isOffline,
    });
  return [...choices, { provider: OFFLINE, name: "", place: "offline", isChosen: isOffline }];
}

/** Returns the draft with an @ at the caret, after which a specialist is chosen, and the caret after it. */
export function withMention(draft: string, caret: number): { text: string; caret: number } {
  const before = draft.slice(0, caret);
  const start = /(?:^|[\s(])$/u.test(before) ? `${before}@` : `${before} @`;
  return { text: `${start}${draft.slice(caret)}`, caret: start.length };
}
