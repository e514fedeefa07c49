// The views of the window, in the order of the rail and of the keys Ctrl+1, Ctrl+2, ….
import BookMarked from "@lucide/svelte/icons/book-marked";
import Database from "@lucide/svelte/icons/database";
import LayoutDashboard from "@lucide/svelte/icons/layout-dashboard";
import MessageSquare from "@lucide/svelte/icons/message-square";
import ScrollText from "@lucide/svelte/icons/scroll-text";
import Settings from "@lucide/svelte/icons/settings";
import Wrench from "@lucide/svelte/icons/wrench";
import type { Component } from "svelte";
import type { MessageKey } from "../i18n/index.svelte";

/** The argument of a view, e.g. the record to show. */
export type RouteParams = Record<string, string>;

interface Entry {
  label: MessageKey;
  icon: typeof Wrench;
  /** Loads the view when it is opened. Null for the chat, which is always there. */
  load: (() => Promise<{ default: Component<{ params: RouteParams }> }>) | null;
}

const entry = (label: MessageKey, icon: Entry["icon"], load: Entry["load"]): Entry => ({
  label,
  icon,
  load,
});

const TABLE = {
  chat: entry("nav.chat", MessageSquare, null),
  audit: entry("nav.audit", ScrollText, () => import("../views/audit/AuditView.svelte")),
  tools: entry("nav.tools", Wrench, () => import("../views/tools/ToolsView.svelte")),
  data: entry("nav.data", Database, () => import("../views/data/DataView.svelte")),
  memory: entry("nav.memory", BookMarked, () => import("../views/memory/MemoryView.svelte")),
  boards: entry("nav.boards", LayoutDashboard, () => import("../views/boards/BoardsView.svelte")),
  settings: entry("nav.settings", Settings, () => import("../views/settings/SettingsView.svelte")),
};

export type View = keyof typeof TABLE;
export const VIEWS: Readonly<Record<View, Entry>> = TABLE;
export const VIEW_NAMES = Object.keys(TABLE) as View[];

export function isView(text: string | null): text is View {
  return text !== null && Object.hasOwn(TABLE, text);
}
