// The open view. In memory only: a desktop window has no address bar, and nothing is stored in the
// webview.
import type { MessageKey } from "../i18n/index.svelte";

export const VIEWS = ["chat", "audit", "tools", "data", "settings"] as const;
export type View = (typeof VIEWS)[number];
/** The argument of a view, e.g. the record to show. */
export type RouteParams = Record<string, string>;

export const VIEW_LABEL: Record<View, MessageKey> = {
  chat: "nav.chat",
  audit: "nav.audit",
  tools: "nav.tools",
  data: "nav.data",
  settings: "nav.settings",
};

class Router {
  view = $state<View>("chat");
  params = $state<RouteParams>({});

  go(view: View, params: RouteParams = {}): void {
    this.view = view;
    this.params = params;
  }
}

export const router = new Router();

export function isView(text: string | null): text is View {
  return (VIEWS as readonly string[]).includes(text ?? "");
}
