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

/** What the dialog offers of the providers on the internet: the name of its texts, and the provider. */
export const OFFERED = [
  ["openai", "openai_compatible"],
  ["anthropic", "anthropic"],
  ["gemini", "gemini"],
] as const satisfies readonly (readonly [string, Provider])[];

export const isProvider = (name: string): name is Provider =>
  (PROVIDERS as readonly string[]).includes(name);

/** The address to go on with: one that somebody entered stays, a provider's own gives way to the other's. */
export function addressFor(provider: string, before: string): string {
  const known = Object.values(ADDRESSES).includes(before.trim());
  return known && isProvider(provider) && provider !== "offline" ? ADDRESSES[provider] : before;
}
