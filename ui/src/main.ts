// Entry of the chat window: host, settings and texts (so that the first paint has the right theme and language), then the app.
import { mount } from "svelte";
import App from "./app/App.svelte";
import { app } from "./app/app.svelte";
import { keepColumnWidths } from "./app/columnWidths";
import { router } from "./app/router.svelte";
import { setTheme, watchSystemTheme } from "./app/theme";
import { isView } from "./app/views";
import { languageSet, setLanguage, t } from "./i18n/index.svelte";
import { startPlatform } from "./platform";
import "./style/tokens.css";
import "./style/base.css";
import "./style/prose.css";
import "./style/opening.css";

const target = document.getElementById("app")!;
watchSystemTheme();
setTheme("system");
setLanguage("system");
try {
  const host = startPlatform("chat");
  await app.start();
  await languageSet();
  keepColumnWidths();
  const view = new URLSearchParams(location.search).get("view");
  if (isView(view)) router.go(view);
  target.replaceChildren();
  mount(App, { target });
  void host.ready();
} catch (cause) {
  await languageSet();
  target.setAttribute("role", "alert");
  target.textContent = `${t("error.start_failed")} ${cause instanceof Error ? cause.message : ""}`;
}
