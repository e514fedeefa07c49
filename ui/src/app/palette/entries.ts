// The entries of the command palette: actions, views and settings, and conversations, sources and boards of the host.
import { t } from "../../i18n/index.svelte";
import { call } from "../../platform";
import type { SessionSummary } from "../../platform/generated/SessionSummary";
import { chat } from "../../state/chat.svelte";
import { SECTION_LABEL, SECTIONS } from "../../views/settings/sections";
import { keyNames } from "../actions/keys";
import { ACTIONS, isAvailable } from "../actions/list";
import { nameOf } from "../actions/words";
import { router } from "../router.svelte";
import { VIEWS } from "../views";
import type { Entry, Lookup } from "./palette.svelte";

/** The most conversations that the host is asked for. */
const MOST = 20;

/** Returns the entries that the window itself has. */
export function ownEntries(): Entry[] {
  const actions = ACTIONS.filter((action) => action.id !== "palette" && isAvailable(action));
  return [
    ...actions.map((action): Entry => ({
      id: `action:${action.id}`,
      group: action.view ? "views" : "actions",
      name: action.view ? t(VIEWS[action.view].label) : nameOf(action),
      ...(action.keys ? { keys: keyNames(action.keys) } : {}),
      run: action.run,
    })),
    ...SECTIONS.map((section): Entry => ({
      id: `settings:${section}`,
      group: "settings",
      name: t(SECTION_LABEL[section]),
      detail: t("settings.title"),
      run: () => router.go("settings", { section }),
    })),
  ];
}

function ofSession({ id, title }: SessionSummary): Entry {
  return {
    id: `session:${id}`,
    group: "conversations",
    name: title || t("sessions.untitled"),
    run: () => {
      router.go("chat");
      void chat.select(id);
    },
  };
}

const sessions: Lookup = {
  isAsked: true,
  find: async (query) => {
    const found = await call("sessions_list", { query, offset: 0, limit: MOST, archived: false });
    const others = chat.list.sessions.filter(
      ({ id }) => !found.sessions.some((one) => one.id === id),
    );
    // The host finds a query as a whole. Single words are found in the conversations that the list has.
    return [...found.sessions, ...others].map(ofSession);
  },
};

const ofSources: Lookup = {
  isAsked: false,
  find: async () => {
    const found = await call("sources_list", {});
    return found.sources.map(({ name }) => ({
      id: `source:${name}`,
      group: "sources",
      name,
      run: () => router.go("data", { source: name }),
    }));
  },
};

const ofBoards: Lookup = {
  isAsked: false,
  find: async () => {
    const found = await call("boards_list", {});
    return found.boards.map(({ id, name }) => ({
      id: `board:${id}`,
      group: "boards",
      name,
      run: () => router.go("boards", { board: id }),
    }));
  },
};

/** The entries of the host. */
export const LOOKUPS: readonly Lookup[] = [sessions, ofSources, ofBoards];
