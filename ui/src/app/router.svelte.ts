// The open view. It is kept in memory only: a desktop window has no address bar, and nothing is stored in the webview.
import type { RouteParams, View } from "./views";

class Router {
  view = $state<View>("chat");
  params = $state<RouteParams>({});

  go(view: View, params: RouteParams = {}): void {
    this.view = view;
    this.params = params;
  }
}

export const router = new Router();
