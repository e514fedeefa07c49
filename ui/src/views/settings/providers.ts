// The available providers, with their addresses.
export const PROVIDERS = [
  "offline",
  "openai_compatible",
  "openai_responses",
  "anthropic",
  "gemini",
] as const;
export type Provider = (typeof PROVIDERS)[number];

export const ADDRESSES: Record<Provider, string> = {
  offline: "",
  openai_compatible: "https://api.openai.com/v1",
  openai_responses: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  gemini: "https://generativelanguage.googleapis.com/v1beta",
};

/** The providers on the internet that the dialog offers: the key of their texts, and the provider. */
export const OFFERED = [
  ["openai", "openai_compatible"],
  ["anthropic", "anthropic"],
  ["gemini", "gemini"],
] as const satisfies readonly (readonly [string, Provider])[];

export const isProvider = (name: string): name is Provider =>
  (PROVIDERS as readonly string[]).includes(name);

/** Returns the address after a change of the provider: an entered address stays, a provider's own address is replaced. */
export function addressFor(provider: string, before: string): string {
  const known = Object.values(ADDRESSES).includes(before.trim());
  return known && isProvider(provider) && provider !== "offline" ? ADDRESSES[provider] : before;
}

/** Returns the server of an address; null if the text is not a web address. */
function serverOf(address: string): URL | null {
  return URL.canParse(address.trim()) ? new URL(address.trim()) : null;
}

/** Whether an address is one of this computer. */
export function isOfThisComputer(address: string): boolean {
  const host = serverOf(address)?.hostname ?? "";
  return /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/.test(host);
}

const isSameServer = (a: string, b: string): boolean => {
  const origin = serverOf(a)?.origin;
  return origin !== undefined && origin === serverOf(b)?.origin;
};

/** Whether the user said that a model runs at the address. */
export function isSaidToRun(said: readonly string[], address: string): boolean {
  return said.some((known) => isSameServer(known, address));
}

/** Returns the user's answers with this one about the address. Answers about other addresses stay. */
export function sayRuns(said: readonly string[], address: string, runs: boolean): string[] {
  if (runs && isSaidToRun(said, address)) return [...said];
  const others = said.filter((known) => !isSameServer(known, address));
  return runs ? [...others, address.trim()] : others;
}
