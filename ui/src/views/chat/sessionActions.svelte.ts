// The actions of a conversation, for its row in the list and for the header. The dialogs are in `SessionDialogs.svelte`.
import { t } from "../../i18n/index.svelte";
import type { MenuAction } from "../../kit";
import { asAgentError } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { SessionSummary } from "../../platform/generated/SessionSummary";
import { chat } from "../../state/chat.svelte";

class SessionActions {
  renaming = $state<SessionSummary | null>(null);
  exporting = $state<SessionSummary | null>(null);
  erasing = $state<SessionSummary | null>(null);
  /** Why the last action without a dialog failed. */
  error = $state<AgentError | null>(null);

  /** Deletes a conversation. The deletion can be undone for some seconds. */
  async remove(session: SessionSummary): Promise<boolean> {
    return this.attempt(() => chat.remove(session.id));
  }

  async mark(
    session: SessionSummary,
    marks: { pinned?: boolean; archived?: boolean },
  ): Promise<boolean> {
    return this.attempt(() => chat.mark(session.id, marks));
  }

  /** Returns the actions of a conversation's menu. `remove` deletes the conversation. */
  menuOf(session: SessionSummary, remove: () => void): MenuAction[] {
    const { pinned, archived } = session;
    return [
      { name: t("sessions.rename"), keys: "F2", run: () => (this.renaming = session) },
      {
        name: pinned ? t("sessions.unpin") : t("sessions.pin"),
        run: () => void this.mark(session, { pinned: !pinned }),
      },
      {
        name: archived ? t("sessions.unarchive") : t("sessions.archive"),
        run: () => void this.mark(session, { archived: !archived }),
      },
      { name: t("sessions.export"), run: () => (this.exporting = session) },
      { name: t("common.delete"), keys: "Del", run: remove },
      { name: t("sessions.erase_menu"), run: () => (this.erasing = session) },
    ];
  }

  private async attempt(action: () => Promise<void>): Promise<boolean> {
    this.error = null;
    try {
      await action();
      return true;
    } catch (cause) {
      this.error = asAgentError(cause);
      return false;
    }
  }
}

export const sessionActions = new SessionActions();
