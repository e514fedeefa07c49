// The icon of each entry of the command palette: a view has that of the rail, an action its own, and others that of their group.
import Cloud from "@lucide/svelte/icons/cloud";
import Database from "@lucide/svelte/icons/database";
import FileUp from "@lucide/svelte/icons/file-up";
import Keyboard from "@lucide/svelte/icons/keyboard";
import LayoutDashboard from "@lucide/svelte/icons/layout-dashboard";
import MessageSquare from "@lucide/svelte/icons/message-square";
import MessageSquarePlus from "@lucide/svelte/icons/message-square-plus";
import PanelLeft from "@lucide/svelte/icons/panel-left";
import Pencil from "@lucide/svelte/icons/pencil";
import PencilLine from "@lucide/svelte/icons/pencil-line";
import RefreshCw from "@lucide/svelte/icons/refresh-cw";
import RotateCcw from "@lucide/svelte/icons/rotate-ccw";
import Search from "@lucide/svelte/icons/search";
import Settings from "@lucide/svelte/icons/settings";
import ShieldCheck from "@lucide/svelte/icons/shield-check";
import Square from "@lucide/svelte/icons/square";
import TextSearch from "@lucide/svelte/icons/text-search";
import Zap from "@lucide/svelte/icons/zap";
import ZoomIn from "@lucide/svelte/icons/zoom-in";
import ZoomOut from "@lucide/svelte/icons/zoom-out";
import { VIEW_NAMES, VIEWS } from "../views";
import type { Entry, OwnGroup } from "./palette.svelte";

type Icon = typeof Zap;

const OF_GROUPS: Record<OwnGroup, Icon> = {
  actions: Zap,
  views: PanelLeft,
  settings: Settings,
  conversations: MessageSquare,
  sources: Database,
  boards: LayoutDashboard,
};

/** The icons of actions, by their ids. */
const OF_ACTIONS: Readonly<Record<string, Icon>> = {
  ...Object.fromEntries(VIEW_NAMES.map((view) => [`view_${view}`, VIEWS[view].icon])),
  new: MessageSquarePlus,
  search: Search,
  find: TextSearch,
  composer: PencilLine,
  stop: Square,
  approvals: ShieldCheck,
  zoom_in: ZoomIn,
  zoom_out: ZoomOut,
  zoom_reset: RotateCcw,
  help: Keyboard,
  edit_last: Pencil,
  regenerate_last: RefreshCw,
  import: FileUp,
  database: Database,
  model: Cloud,
};

export const iconOf = ({ id, group }: Entry): Icon =>
  OF_ACTIONS[id.replace("action:", "")] ?? OF_GROUPS[group];
