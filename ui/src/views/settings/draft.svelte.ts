// The edited settings: a copy of the settings in force, the differences, and a function that saves them together.
import { app } from "../../app/app.svelte";
import { wordedError } from "../../i18n/host";
import { asAgentError, call } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { Settings } from "../../platform/generated/Settings";

export class Draft {
  value = $state<Settings | null>(null);
  error = $state<AgentError | null>(null);
  saving = $state(false);
  saved = $state(false);
  /** The settings in force when the copy was made. */
  private base = "";
  /** The size of the window that was in force last. */
  private zoom = 0;
  dirty = $derived(
    this.value !== null &&
      app.settings !== null &&
      JSON.stringify(this.value) !== JSON.stringify(app.settings.settings),
  );

  /** Copies the settings in force, unless a person is editing. A value that changes outside this page, such as the size of the window, is
   *  copied in any case, so that saving does not set it back. */
  follow(): void {
    if (!app.settings) return;
    if (this.value === null || JSON.stringify(this.value) === this.base) {
      this.reset();
      return;
    }
    const { zoom, column_widths } = $state.snapshot(app.settings.settings) as Settings;
    if (zoom !== this.zoom) this.value.zoom = this.zoom = zoom;
    // An equal object would count as a change, and lead here again.
    if (JSON.stringify(column_widths) !== JSON.stringify(this.value.column_widths))
      this.value.column_widths = column_widths;
  }

  /** Copies the model that was just saved, and keeps all other edits. */
  followModel(): void {
    if (!this.value || !app.settings) return;
    const { model, egress } = app.settings.settings;
    this.value.model = structuredClone($state.snapshot(model)) as Settings["model"];
    this.value.egress.allowed = egress.allowed;
  }

  reset(): void {
    this.value = app.settings
      ? (structuredClone($state.snapshot(app.settings.settings)) as Settings)
      : null;
    // The assistant is off only because the settings file has an error. Saving replaces the file.
    if (this.value && app.settingsFault) this.value.agent_enabled = true;
    this.base = JSON.stringify(this.value);
    this.zoom = this.value?.zoom ?? 0;
    this.error = null;
  }

  async save(): Promise<void> {
    if (!this.value) return;
    this.saving = true;
    this.saved = false;
    try {
      app.take(await call("settings_set", { settings: $state.snapshot(this.value) as Settings }));
      this.reset();
      this.saved = true;
      // The confirmation is shown for a short time.
      setTimeout(() => (this.saved = false), 4000);
    } catch (cause) {
      this.error = asAgentError(cause);
    } finally {
      this.saving = false;
    }
  }

  /** Returns the host's error about one field. */
  errorOf(field: string): string | null {
    return this.error?.details["field"] === field ? wordedError(this.error) : null;
  }
}
