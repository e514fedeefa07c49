// The sections of the settings, in the order of their list, and the section that holds a field.
import type { MessageKey } from "../../i18n/index.svelte";

export const SECTIONS = [
  "general",
  "model",
  "privacy",
  "packs",
  "policy",
  "budgets",
  "advanced",
  "about",
] as const;
export type Section = (typeof SECTIONS)[number];

export const SECTION_LABEL: Record<Section, MessageKey> = {
  general: "section.general",
  model: "settings.model",
  privacy: "privacy.title",
  packs: "section.packs",
  policy: "settings.policy",
  budgets: "section.budgets",
  advanced: "section.advanced",
  about: "section.about",
};

/** Returns the section that a link names; the first if it names none. */
export function sectionOf(name: string | undefined): Section {
  return SECTIONS.find((section) => section === name) ?? SECTIONS[0];
}

/** The sections of fields, by the beginning of the field's dotted name. The first that fits counts. */
const PLACES: readonly (readonly [string, Section])[] = [
  ["model.idle_timeout_s", "advanced"],
  ["model.local_idle_timeout_s", "advanced"],
  ["model.max_retries", "advanced"],
  ["model", "model"],
  ["egress", "privacy"],
  ["audit.keep_values_days", "privacy"],
  ["data", "advanced"],
  ["packs", "packs"],
  ["policy", "policy"],
  ["limits.approval_expiry_s", "policy"],
  ["limits", "advanced"],
  ["conversation", "advanced"],
  ["memory", "advanced"],
  ["audit", "advanced"],
  ["budgets", "budgets"],
];

/** Returns the section of the field that the host refused; null if the host names no field. */
export function sectionOfField(field: unknown): Section | null {
  if (typeof field !== "string") return null;
  const place = PLACES.find(([name]) => field === name || field.startsWith(`${name}.`));
  return place?.[1] ?? "general";
}
