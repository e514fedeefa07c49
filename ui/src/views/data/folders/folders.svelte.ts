// The folders from which imports without a person may read files.
import { t } from "../../../i18n/index.svelte";
import { asAgentError, call, platform } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { AllowedFolder } from "../../../platform/generated/AllowedFolder";

export class Folders {
  /** The folders; null before they are read. */
  list = $state.raw<readonly AllowedFolder[] | null>(null);
  error = $state.raw<AgentError | null>(null);
  isChanging = $state(false);
  /** The last change in words. */
  said = $state("");

  async read(): Promise<void> {
    try {
      this.list = (await call("folders_allowed", {})).folders;
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Lets a person choose a folder, and allows it. */
  async choose(): Promise<void> {
    if (this.isChanging) return;
    try {
      const folder = await platform().pickFolder();
      if (folder !== null) await this.set(folder, true);
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Allows a folder, or takes the permission back. */
  async set(folder: string, allowed: boolean): Promise<void> {
    this.isChanging = true;
    this.error = null;
    try {
      this.list = (await call("folder_allow", { folder, allowed })).folders;
      this.said = t(allowed ? "folders.allowed" : "folders.revoked", { folder });
    } catch (cause) {
      this.error = asAgentError(cause);
    }
    this.isChanging = false;
  }
}
