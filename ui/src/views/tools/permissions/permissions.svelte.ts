// The permissions of the profile as one list, and how each is revoked.
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import { withoutGrant } from "../rules/draft";
import { listPermissions, type Permission, type Sources } from "./list";

/** The most conversations whose titles are read; others are shown by their ids. */
const TITLES = 200;

export class Permissions {
  /** The permissions; null before they are read. */
  list = $state.raw<readonly Permission[] | null>(null);
  titles = $state.raw<ReadonlyMap<string, string>>(new Map());
  error = $state.raw<AgentError | null>(null);
  /** The key of the permission that is being revoked. */
  revoking = $state<string | null>(null);

  async read(): Promise<void> {
    const failures: AgentError[] = [];
    const list = listPermissions(await this.#readSources(failures), Date.now());
    // An empty list would say that nothing is allowed.
    this.list = list.length === 0 && failures.length > 0 ? null : list;
    this.error = failures[0] ?? null;
    await this.#readTitles();
  }

  /** Reads each list by itself, so that one that cannot be read does not hide the others. */
  async #readSources(failures: AgentError[]): Promise<Sources> {
    const orNull = async <T>(reading: Promise<T>): Promise<T | null> => {
      try {
        return await reading;
      } catch (cause) {
        failures.push(asAgentError(cause));
        return null;
      }
    };
    const [grants, policy, allowances, folders, servers, settings] = await Promise.all([
      orNull(call("grants_list", {})),
      orNull(call("policy_get", {})),
      orNull(call("allowances_list", {})),
      orNull(call("folders_allowed", {})),
      orNull(call("server_list", {})),
      orNull(call("settings_get", {})),
    ]);
    return {
      grants: grants?.grants ?? [],
      standing: policy?.grants ?? [],
      allowances: allowances?.allowances ?? [],
      folders: folders?.folders ?? [],
      servers: servers?.servers ?? [],
      terminalDecides: settings?.settings.decide_from_terminal ?? false,
    };
  }

  /** Reads the titles of conversations. Without them, conversations are shown by their ids. */
  async #readTitles(): Promise<void> {
    if (!this.list?.some(({ session }) => session !== null)) return;
    try {
      const page = { query: "", offset: 0, limit: TITLES, archived: false };
      const { sessions } = await call("sessions_list", page);
      this.titles = new Map(sessions.map(({ id, title }) => [id, title] as const));
    } catch {
      this.titles = new Map();
    }
  }

  /** Revokes a permission, and reads the list again. Returns whether it was revoked. */
  async revoke(permission: Permission): Promise<boolean> {
    if (this.revoking !== null) return false;
    this.revoking = permission.key;
    let failed: AgentError | null = null;
    try {
      await send(permission);
    } catch (cause) {
      failed = asAgentError(cause);
    }
    await this.read();
    this.error = failed ?? this.error;
    this.revoking = null;
    return failed === null;
  }
}

async function send({ allows, session }: Permission): Promise<void> {
  switch (allows.kind) {
    case "tool":
      if (allows.inFile) await revokeInFile(allows.id);
      else await call("grant_revoke", { id: allows.id });
      return;
    case "destination":
      await call("allowance_revoke", {
        destination: allows.destination,
        ...(session ? { session } : {}),
      });
      return;
    case "folder":
      await call("folder_allow", { folder: allows.folder, allowed: false });
      return;
    case "reads":
      await call("server_reads_set", { name: allows.server, may_run: false });
      return;
    case "terminal":
  }
}

/** Removes a permission from the rules file. The host asks nobody, because only a permission goes. */
async function revokeInFile(id: string): Promise<void> {
  const { text, fingerprint } = await call("policy_get", {});
  await call("policy_rules_set", { rules: withoutGrant(text, id), fingerprint });
}
