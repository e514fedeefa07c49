// The memories that the page lists: all of them, those that fit a text, or those that a conversation used. Talks to the host.
import { asAgentError, call } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { MemoryEntry } from "../../platform/generated/MemoryEntry";
import type { MemorySource } from "../../platform/generated/MemorySource";

const PAGE = 50;
/** The most memories that a search returns. */
const HITS = 50;

export type Scope = "all" | "note" | "summary" | "used";

export class Memories {
  list = $state<MemoryEntry[]>([]);
  sources = $state<MemorySource[]>([]);
  hasMore = $state(false);
  loaded = $state(false);
  loading = $state(false);
  error = $state<AgentError | null>(null);
  said = $state("");
  query = $state("");
  scope = $state<Scope>("all");
  private request = 0;

  shown = $derived(
    this.scope === "note" || this.scope === "summary"
      ? this.list.filter(({ kind }) => kind === this.scope)
      : this.list,
  );

  sourceOf(memory: MemoryEntry): MemorySource | null {
    return this.sources.find((source) => source.memory === memory.id) ?? null;
  }

  /** Reads the first page. `session` is the open conversation. */
  async reload(session: string | null): Promise<void> {
    await this.read(session, 0);
  }

  async more(session: string | null): Promise<void> {
    await this.read(session, this.list.length);
  }

  private async read(session: string | null, offset: number): Promise<void> {
    const request = ++this.request;
    const text = this.query.trim();
    this.loading = true;
    try {
      const page =
        text !== "" && this.scope !== "used"
          ? await this.search(text)
          : await call("memory_list", {
              session: null,
              used_in: this.scope === "used" ? session : null,
              offset,
              limit: PAGE,
            });
      if (request !== this.request) return;
      const known = offset === 0 ? [] : this.list;
      this.list = [...known, ...page.memories];
      this.sources = [...(offset === 0 ? [] : this.sources), ...page.sources];
      this.hasMore = page.has_more;
      this.error = null;
    } catch (cause) {
      if (request === this.request) this.error = asAgentError(cause);
    }
    if (request === this.request) {
      this.loaded = true;
      this.loading = false;
    }
  }

  private async search(text: string) {
    const { hits, sources } = await call("memory_search", { text, session: null, limit: HITS });
    return { memories: hits.map(({ memory }) => memory), sources, has_more: false };
  }

  async add(text: string, session: string | null): Promise<void> {
    await call("memory_add", { text, session: null });
    await this.reload(session);
  }

  async edit(id: string, text: string): Promise<void> {
    this.put(await call("memory_edit", { id, text }));
  }

  /** Pins or unpins a memory, and moves it to its place in the list. */
  async pin(memory: MemoryEntry, session: string | null): Promise<void> {
    try {
      this.put(await call("memory_pin", { id: memory.id, pinned: !memory.pinned }));
      await this.reload(session);
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  async forget(id: string): Promise<void> {
    await call("memory_forget", { id });
    this.list = this.list.filter((memory) => memory.id !== id);
  }

  private put(changed: MemoryEntry): void {
    this.list = this.list.map((memory) => (memory.id === changed.id ? changed : memory));
  }
}
