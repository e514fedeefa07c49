// The edited settings: a copy of those in force, the differences, and saving them together.
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
  dirty = $derived(
    this.value !== null &&
      app.settings !== null &&
      JSON.stringify(this.value) !== JSON.stringify(app.settings.settings),
  );

  /** Takes over what is in force, unless something is being edited. */
  follow(): void {
    if (app.settings && (this.value === null || JSON.stringify(this.value) === this.base))
      this.reset();
  }

  /** Takes over the model that was just saved, and keeps what else is being edited. */
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
    // Only the fault of the file has switched it off. Saving replaces the file.
    if (this.value && app.settingsFault) this.value.agent_enabled = true;
    this.base = JSON.stringify(this.value);
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
      // Shown for a short time.
      setTimeout(() => (this.saved = false), 4000);
    } catch (cause) {
      this.error = asAgentError(cause);
    } finally {
      this.saving = false;
    }
  }

  /** The host's complaint about one field. */
  errorOf(field: string): string | null {
    return this.error?.details["field"] === field ? wordedError(this.error) : null;
  }
}
