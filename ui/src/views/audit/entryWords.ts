// The names of the audit view's entries and of the persons and places that asked.
import Eraser from "@lucide/svelte/icons/eraser";
import Flag from "@lucide/svelte/icons/flag";
import MessageSquare from "@lucide/svelte/icons/message-square";
import Wrench from "@lucide/svelte/icons/wrench";
import { t, tMaybe } from "../../i18n/index.svelte";
import type { AuditEntry } from "../../platform/generated/AuditEntry";
import { titles } from "./titles.svelte";
import { iconOf } from "./words";

export function entryIcon(entry: AuditEntry): typeof Flag {
  switch (entry.kind) {
    case "question":
      return MessageSquare;
    case "call":
      return Wrench;
    case "start":
      return Flag;
    case "erasure":
      return Eraser;
    case "record":
      return iconOf(entry.event);
  }
}

/** Returns the text of a question, or the name of the event. */
export function entryTitle(entry: AuditEntry): string {
  switch (entry.kind) {
    case "question":
      return entry.erased
        ? t("audit.question_erased")
        : (entry.question ?? t("record.run_started"));
    case "call":
      return t("audit.entry_call", { tool: entry.tools.map(titles.tool).join(", ") });
    case "start":
      return t("audit.entry_start");
    case "erasure":
      return t("record.session_erased");
    case "record":
      return t(`record.${entry.event}`);
  }
}

/** Returns the person and the place, or only the place. */
export function whoAsked({ person, origin }: AuditEntry): string {
  const place = origin ? tMaybe(`audit.origin_${origin}`, origin) : "";
  return person ? t("audit.who", { person, place }) : place;
}
