// The steps of connecting a model: what can be chosen, what each step needs, where a problem is shown, and the order in which
// things are saved. Knows no component and no host; the dialog passes the calls in.
import type { ConnectionProblem } from "../../../platform/generated/ConnectionProblem";
import type { LocalServer } from "../../../platform/generated/LocalServer";
import type { Settings } from "../../../platform/generated/Settings";
import { ADDRESSES, OFFERED, isOfThisComputer, sayRuns, type Provider } from "../providers";

export type Step = "provider" | "key" | "model" | "save";

/** The provider whose model is connected. */
export interface Choice {
  kind: "local" | (typeof OFFERED)[number][0] | "other";
  provider: Exclude<Provider, "offline">;
  /** The address; empty if a person enters it. */
  address: string;
  /** The name of a local server's software; empty for other providers. */
  name: string;
  /** The models of a local server, which the search found already. */
  models: string[];
}

const CLOUD: readonly Choice[] = OFFERED.map(([kind, provider]) => ({
  kind,
  provider,
  address: ADDRESSES[provider],
  name: "",
  models: [],
}));

const OTHER: Choice = {
  kind: "other",
  provider: "openai_compatible",
  address: "",
  name: "",
  models: [],
};

/** Returns everything that can be chosen. Servers found on this computer come first. */
export function choices(found: readonly LocalServer[]): Choice[] {
  const local = found.map((server): Choice => ({
    kind: "local",
    provider: "openai_compatible",
    address: server.base_url,
    name: server.name,
    models: server.models,
  }));
  return [...local, ...CLOUD, OTHER];
}

/** Returns the step after the choice. The models of a local server are already known and need no key. */
export function stepAfter(choice: Choice): Step {
  return choice.kind === "local" && choice.models.length > 0 ? "model" : "key";
}

/** Whether a person enters or corrects the address. */
export function hasAddress(choice: Choice): boolean {
  return choice.kind === "other" || choice.kind === "local";
}

/** Whether a text is a web address without a user name, so that a request to the address makes sense. */
export function isAddress(text: string): boolean {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return false;
  }
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

/** Returns where the dialog shows a problem, and which step can correct it. */
export function placeOf(problem: ConnectionProblem): {
  step: Step;
  field: "key" | "address" | "model" | null;
} {
  switch (problem) {
    case "key":
    case "key_missing":
    case "key_unusable":
      return { step: "key", field: "key" };
    case "address":
    case "dns":
    case "no_connection":
    case "api":
      return { step: "key", field: "address" };
    case "model":
    case "refused":
    case "key_permission":
      return { step: "model", field: "model" };
    case "timeout":
    case "tls_issuer":
    case "tls":
    case "proxy":
    case "limit":
    case "server":
    case "cloud_models_off":
      return { step: "key", field: null };
  }
}

/** Returns the models whose name contains the text. */
export function filtered(models: readonly string[], text: string): string[] {
  const wanted = text.trim().toLowerCase();
  return models.filter((model) => model.toLowerCase().includes(wanted));
}

/** Returns the model that is selected at first: the configured model if the server has it, the only model, or none. */
export function preselected(models: readonly string[], configured: string): string {
  if (models.includes(configured)) return configured;
  return models.length === 1 ? models[0]! : "";
}

/** Everything that is saved at the end. */
export interface Plan {
  provider: Provider;
  address: string;
  model: string;
  /** Whether the user says that a model runs at an address of this computer. */
  runsHere: boolean;
  /** The key that was entered; empty if the stored key or no key is used. */
  key: string;
  thisRunOnly: boolean;
}

/** Changes the settings as planned, and nothing else. */
export function applyPlan(settings: Settings, plan: Plan): void {
  settings.model.provider = plan.provider;
  settings.model.base_url = plan.address.trim();
  settings.model.model = plan.model.trim();
  if (isOfThisComputer(plan.address))
    settings.model.runs_here = sayRuns(settings.model.runs_here, plan.address, plan.runsHere);
}

export type Stage = "settings" | "key" | "test";

/** The calls that `connect` makes, in this order. */
export interface Calls<T> {
  saveSettings: (plan: Plan) => Promise<void>;
  storeKey: (key: string, thisRunOnly: boolean) => Promise<void>;
  test: () => Promise<T>;
}

/** Saves the settings, then the key (it belongs to the configured server), then tests. Returns null if the user stopped it. */
export async function connect<T>(
  plan: Plan,
  calls: Calls<T>,
  onStage: (stage: Stage) => void,
  isStopped: () => boolean,
): Promise<T | null> {
  onStage("settings");
  await calls.saveSettings(plan);
  if (isStopped()) return null;
  const key = plan.key.trim();
  if (key !== "") {
    onStage("key");
    await calls.storeKey(key, plan.thisRunOnly);
    if (isStopped()) return null;
  }
  onStage("test");
  const tested = await calls.test();
  return isStopped() ? null : tested;
}
