// State that all views share: settings, the app's state, and pushes about both. Sessions and
// transcripts have their own stores.
import { setLanguage, setTimeZone } from "../i18n/index.svelte";
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { AppStatus } from "../platform/generated/AppStatus";
import type { Settings } from "../platform/generated/Settings";
import type { SettingsView } from "../platform/generated/SettingsView";
import { setTheme } from "./theme";

class App {
  settings = $state<SettingsView | null>(null);
  status = $state<AppStatus | null>(null);
  error = $state<AgentError | null>(null);
  waiting = $state(0);
  /** Whether the settings file cannot be used. The start notice says why. */
  settingsFault = $derived(
    (this.status?.notices ?? []).some((notice) => notice.code === "settings_unreadable"),
  );
  offline = $derived(this.settings?.settings.model.provider === "offline");

  async start(): Promise<void> {
    platform().onPush((push) => {
      if (push.push === "settings") void this.reloadSettings(push.settings);
      else if (push.push === "approvals") this.waiting = push.waiting;
    });
    await Promise.all([this.reloadSettings(), this.reloadStatus()]);
  }

  async reloadSettings(changed?: Settings): Promise<void> {
    try {
      if (changed && this.settings) this.take({ ...this.settings, settings: changed });
      this.take(await call("settings_get", {}));
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Takes settings that a command just returned, and applies language, zone and theme. */
  take(view: SettingsView): void {
    this.settings = view;
    setLanguage(view.settings.language, view.locale);
    setTimeZone(view.settings.time_zone);
    setTheme(view.settings.theme);
    void this.reloadStatus();
  }

  async reloadStatus(): Promise<void> {
    try {
      this.status = await call("app_status", {});
      this.waiting = this.status.waiting_approvals;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Changes some settings and keeps the rest. */
  async save(change: (settings: Settings) => void): Promise<void> {
    if (!this.settings) return;
    const settings = structuredClone($state.snapshot(this.settings.settings)) as Settings;
    change(settings);
    this.take(await call("settings_set", { settings }));
  }
}

export const app = new App();
