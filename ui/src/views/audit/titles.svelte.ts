// The names of tools and specialists as people know them. The log has only ids, also of tools that are no longer installed.
import { named } from "../../i18n/host";
import { call } from "../../platform";

class Titles {
  #tools = $state.raw<ReadonlyMap<string, string>>(new Map());
  #agents = $state.raw<ReadonlyMap<string, string>>(new Map());

  async read(): Promise<void> {
    try {
      const { packs } = await call("packs_list", {});
      this.#tools = new Map(
        packs.flatMap((pack) => pack.tools.map((tool) => [tool.id, tool.title] as const)),
      );
      this.#agents = new Map(
        packs.flatMap((pack) =>
          pack.agent_id && pack.agent ? [[pack.agent_id, pack.agent] as const] : [],
        ),
      );
    } catch {
      // Without names, the ids are shown.
    }
  }

  tool = (id: string): string => named(this.#tools.get(id) ?? id);
  agent = (id: string): string => named(this.#agents.get(id) ?? id);
}

export const titles = new Titles();
