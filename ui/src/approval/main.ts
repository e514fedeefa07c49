// Entry of the approval window.
import { mount } from "svelte";
import { app } from "../app/app.svelte";
import { setTheme, watchSystemTheme } from "../app/theme";
import { languageSet, setLanguage } from "../i18n/index.svelte";
import { startPlatform } from "../platform";
import "../style/tokens.css";
import "../style/base.css";
import ApprovalWindow from "./ApprovalWindow.svelte";

watchSystemTheme();
setTheme("system");
setLanguage("system");
startPlatform("approval");
await app.start();
await languageSet();
mount(ApprovalWindow, { target: document.getElementById("app")! });
