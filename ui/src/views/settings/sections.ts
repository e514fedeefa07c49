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

/** The section that a link names; the first if it names none. */
export function sectionOf(name: string | undefined): Section {
  return SECTIONS.find((section) => section === name) ?? SECTIONS[0];
}

/** Where a field is shown, by its dotted name in the settings. */
const PLACES: readonly (readonly [string, Section])[] = [
  ["model.idle_timeout_s", "advanced"],
  ["model.local_idle_timeout_s", "advanced"],
  ["model.max_retries", "advanced"],
  ["model", "model"],
  ["egress", "privacy"],
  ["audit.keep_values_days", "privacy"],
  ["packs", "packs"],
  ["policy", "policy"],
  ["limits.approval_expiry_s", "policy"],
  ["limits", "advanced"],
  ["conversation", "advanced"],
  ["memory", "advanced"],
  ["audit", "advanced"],
  ["budgets", "budgets"],
];

/** The section that shows the field the host complains about; null if it names none. */
export function sectionOfField(field: unknown): Section | null {
  if (typeof field !== "string") return null;
  const place = PLACES.find(([name]) => field === name || field.startsWith(`${name}.`));
  return place?.[1] ?? "general";
}
