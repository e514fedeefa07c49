// The one list of what the window can do by a key or in the command palette. The sheet of shortcuts and the palette are made from it, and
// key presses are looked up in it.
import type { MessageKey } from "../../i18n/index.svelte";
import type { Vars } from "../../i18n/plural";
import { call } from "../../platform";
import { chat } from "../../state/chat.svelte";
import { sources } from "../../state/sources.svelte";
import { versions } from "../../state/versions.svelte";
import { whyNotAsked } from "../../views/chat/messageActions";
import { app } from "../app.svelte";
import { router } from "../router.svelte";
import { isHandled, runShortcut, type ShortcutEvent } from "../shortcuts";
import { VIEW_NAMES, VIEWS, type View } from "../views";
import { resetZoom, stepZoom } from "../zoom";
import type { Keys } from "./keys";
import { overlays } from "./overlays.svelte";

/** The purposes of shortcuts, in the order of the sheet. */
export const SHORTCUT_GROUPS = [
  "conversation",
  "message",
  "moving",
  "approvals",
  "data",
  "window",
] as const;
export type ShortcutGroup = (typeof SHORTCUT_GROUPS)[number];

/** Something that the window can do. */
export interface Action {
  id: string;
  /** Its purpose. The sheet of shortcuts has a part for each. */
  group: ShortcutGroup;
  name: MessageKey;
  /** Names in the action's name, which are texts of their own. */
  names?: Readonly<Record<string, MessageKey>>;
  /** Numbers in the action's name. */
  values?: Vars;
  keys: Keys | null;
  /** The view that the action opens, if it does nothing else. */
  view?: View;
  /** Whether its keys count while a dialog is open, too. */
  isEverywhere?: boolean;
  /** Whether the action can be done now. Absent means always. */
  isAvailable?: () => boolean;
  run: () => void;
}

/** A key that a part of the window handles itself, such as the message field. */
export type PartKey = Pick<Action, "name" | "group"> & { keys: Keys };

const ctrl = (key: string): Keys => ({ key, ctrl: true });

/** Opens the chat and runs its own action once it is shown. */
function inChat(name: ShortcutEvent): void {
  router.go("chat");
  queueMicrotask(() => runShortcut(name));
}

async function openApproval(): Promise<void> {
  const [first] = (await call("approvals_list", { include_decided: false })).approvals;
  if (first) await call("approval_open", { id: first.id });
}

/** Opens the data view and lets a person choose files. */
function importFiles(): void {
  router.go("data");
  void sources.choose();
}

const isWelcomed = (): boolean => app.settings?.settings.welcomed === true;
/** Whether the last question can be edited or asked again now. */
const isAskable = (): boolean => versions.lastTurn !== null && whyNotAsked() === null;
const isRunning = (): boolean => Boolean(chat.open?.running);

const OF_CHAT: readonly Action[] = [
  { id: "new", group: "conversation", name: "help.new", keys: ctrl("n"), run: () => inChat("new") },
  {
    id: "search",
    group: "conversation",
    name: "help.search",
    keys: ctrl("k"),
    run: () => inChat("search"),
  },
  {
    id: "find",
    group: "conversation",
    name: "help.find",
    keys: ctrl("f"),
    isAvailable: () => router.view === "chat" && isHandled("find"),
    run: () => runShortcut("find"),
  },
  {
    id: "composer",
    group: "message",
    name: "help.composer",
    keys: ctrl("l"),
    run: () => {
      router.go("chat");
      chat.focusWanted++;
    },
  },
  {
    id: "stop",
    group: "message",
    name: "help.stop",
    keys: ctrl("."),
    isAvailable: isRunning,
    run: () => runShortcut("stop"),
  },
];

const OF_WINDOW: readonly Action[] = [
  {
    id: "palette",
    group: "moving",
    name: "help.palette",
    keys: { key: "p", ctrl: true, shift: true },
    isAvailable: isWelcomed,
    run: () => (overlays.palette = true),
  },
  {
    id: "approvals",
    group: "approvals",
    name: "help.approvals",
    keys: ctrl("j"),
    isAvailable: () => app.waiting > 0,
    // If the list cannot be read, the header still says how many wait.
    run: () => void openApproval().catch(() => {}),
  },
  {
    id: "zoom_in",
    group: "window",
    name: "help.zoom_in",
    keys: { key: "+", ctrl: true, plain: ["="] },
    isEverywhere: true,
    run: () => void stepZoom(1),
  },
  {
    id: "zoom_out",
    group: "window",
    name: "help.zoom_out",
    keys: ctrl("-"),
    isEverywhere: true,
    run: () => void stepZoom(-1),
  },
  {
    id: "zoom_reset",
    group: "window",
    name: "help.zoom_reset",
    keys: { key: "0", ctrl: true, codes: ["Digit0", "Numpad0"] },
    isEverywhere: true,
    run: () => void resetZoom(),
  },
  {
    id: "help",
    group: "window",
    name: "help.help",
    keys: ctrl("/"),
    run: () => (overlays.help = true),
  },
];

const OF_VIEWS: readonly Action[] = VIEW_NAMES.map((view, index) => ({
  id: `view_${view}`,
  group: "moving",
  name: "help.view",
  names: { name: VIEWS[view].label },
  values: { number: String(index + 1) },
  keys: index < 9 ? ctrl(String(index + 1)) : null,
  view,
  run: () => router.go(view),
}));

/** Actions that have no key. They are found in the palette. */
const WITHOUT_KEYS: readonly Action[] = [
  {
    id: "edit_last",
    group: "conversation",
    name: "message.edit_last",
    keys: null,
    isAvailable: isAskable,
    run: () => {
      router.go("chat");
      versions.edit(versions.lastTurn);
    },
  },
  {
    id: "regenerate_last",
    group: "conversation",
    name: "message.regenerate_last",
    keys: null,
    isAvailable: isAskable,
    run: () => {
      router.go("chat");
      void versions.regenerate(versions.lastTurn, "question", null);
    },
  },
  { id: "import", group: "data", name: "data.choose", keys: null, run: importFiles },
  {
    id: "database",
    group: "data",
    name: "database.connect",
    keys: null,
    run: () => router.go("data", { connect: "1" }),
  },
  {
    id: "model",
    group: "window",
    name: "connect.title",
    keys: null,
    run: () => router.go("settings", { section: "model", connect: "yes" }),
  },
];

/** All actions, in the order of the sheet. */
export const ACTIONS: readonly Action[] = [...OF_CHAT, ...OF_VIEWS, ...OF_WINDOW, ...WITHOUT_KEYS];

/** Keys that parts of the window handle themselves. */
export const PART_KEYS: readonly PartKey[] = [
  { name: "help.send", group: "message", keys: { key: "enter" } },
  { name: "help.newline", group: "message", keys: { key: "enter", shift: true } },
  { name: "help.mention", group: "message", keys: { key: "@" } },
  { name: "help.complete", group: "message", keys: { key: "tab" } },
  { name: "help.edit_last", group: "message", keys: { key: "arrowup" } },
  { name: "chat.to_start", group: "conversation", keys: { key: "home" } },
  { name: "chat.to_end", group: "conversation", keys: { key: "end" } },
  { name: "sessions.rename_title", group: "conversation", keys: { key: "f2" } },
  { name: "sessions.delete_this", group: "conversation", keys: { key: "delete" } },
  { name: "help.menu", group: "window", keys: { key: "f10", shift: true } },
  { name: "help.column_menu", group: "data", keys: { key: "arrowdown", alt: true } },
  { name: "help.totals", group: "data", keys: { key: "end", ctrl: true } },
  { name: "help.escape", group: "window", keys: { key: "escape" } },
];

/** Whether an action can be done now. */
export const isAvailable = (action: Action): boolean => action.isAvailable?.() ?? true;
