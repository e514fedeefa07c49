// The list of conversations: those of the present search, and the archived ones. Knows no open conversation.
import { asAgentError, call } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { SessionSummary } from "../platform/generated/SessionSummary";
import { insertSession } from "./sessionOrder";

const LIST_PAGE = 50;

export class SessionList {
  sessions = $state<SessionSummary[]>([]);
  hasMore = $state(false);
  /** The archived conversations; null until they are read. */
  archived = $state<SessionSummary[] | null>(null);
  moreArchived = $state(false);
  query = $state("");
  error = $state<AgentError | null>(null);
  isLoaded = $state(false);

  private request = 0;
  /** The number of pushes about the list. A response is outdated if the number changed since its request. */
  private pushes = 0;
  /** The search query of the listed conversations. */
  private listed = "";

  async reload(): Promise<void> {
    const request = ++this.request;
    const pushes = this.pushes;
    try {
      const { sessions, has_more } = await call("sessions_list", {
        query: this.query.trim(),
        offset: 0,
        limit: Math.min(
          200,
          Math.max(LIST_PAGE, this.query === this.listed ? this.sessions.length : 0),
        ),
        archived: false,
      });
      this.listed = this.query;
      if (request !== this.request) return;
      if (pushes !== this.pushes) {
        await this.reload();
        return;
      }
      this.sessions = sessions;
      this.hasMore = has_more;
      this.error = null;
    } catch (cause) {
      if (request === this.request) this.error = asAgentError(cause);
    }
    this.isLoaded = true;
  }

  async loadMore(): Promise<void> {
    try {
      const { sessions, has_more } = await call("sessions_list", {
        query: this.query.trim(),
        offset: this.sessions.length,
        limit: LIST_PAGE,
        archived: false,
      });
      const known = new Set(this.sessions.map((session) => session.id));
      this.sessions.push(...sessions.filter((session) => !known.has(session.id)));
      this.hasMore = has_more;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  async search(query: string): Promise<void> {
    this.query = query;
    await Promise.all([this.reload(), this.archived && this.loadArchived()]);
  }

  /** Reads the archived conversations, or more of them. */
  async loadArchived(offset = 0): Promise<void> {
    const query = this.query.trim();
    try {
      const page = await call("sessions_list", { query, offset, limit: LIST_PAGE, archived: true });
      if (query !== this.query.trim()) return;
      const kept = (this.archived ?? []).slice(0, offset);
      const known = new Set(kept.map(({ id }) => id));
      this.archived = [...kept, ...page.sessions.filter(({ id }) => !known.has(id))];
      this.moreArchived = page.has_more;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Returns the summary of a conversation that is in one of the lists. */
  find(session: string | undefined): SessionSummary | undefined {
    const fits = ({ id }: SessionSummary): boolean => id === session;
    return this.sessions.find(fits) ?? this.archived?.find(fits);
  }

  /** Called when the host pushed a change of the list. A list that was asked for before it is read again. */
  pushed(): void {
    this.pushes++;
  }

  /** Puts a summary where it belongs, in place of an older one. */
  take(summary: SessionSummary): void {
    const fits = summary.title.toLowerCase().includes(this.query.trim().toLowerCase());
    const isKnown = this.find(summary.id) !== undefined;
    const [list, other] = summary.archived
      ? [this.archived, this.sessions]
      : [this.sessions, this.archived];
    const at = other?.findIndex(({ id }) => id === summary.id) ?? -1;
    if (at >= 0) other!.splice(at, 1);
    if (list && (fits || isKnown)) insertSession(list, summary);
  }

  /** Takes a conversation out of the lists. Returns the one that has its place now, or else the newest one. */
  drop(session: string): SessionSummary | undefined {
    const at = this.sessions.findIndex(({ id }) => id === session);
    if (at >= 0) this.sessions.splice(at, 1);
    this.archived = this.archived?.filter(({ id }) => id !== session) ?? null;
    return this.sessions[at] ?? this.sessions[0];
  }
}
