// All permissions as one list: who gave each, what it allows, where and until when it holds, and when it was used last. Pure.
import type { AllowedFolder } from "../../../platform/generated/AllowedFolder";
import type { Allowance } from "../../../platform/generated/Allowance";
import type { Destination } from "../../../platform/generated/Destination";
import type { Grant } from "../../../platform/generated/Grant";
import type { OwnServerView } from "../../../platform/generated/OwnServerView";
import type { StandingGrant } from "../../../platform/generated/StandingGrant";

/** The action that a permission allows. */
export type Allowed =
  | { kind: "tool"; id: string; tool: string; values: Record<string, unknown>; inFile: boolean }
  | { kind: "destination"; destination: Destination }
  | { kind: "folder"; folder: string }
  | { kind: "reads"; server: string }
  | { kind: "terminal" };

export interface Permission {
  key: string;
  allows: Allowed;
  /** The giver, as the records name it; `file` for the rules file, and empty if that is not stored. */
  by: string;
  given: string | null;
  /** The conversation that it is limited to; null if it holds everywhere. */
  session: string | null;
  /** The time at which it ends; null if it holds until it is revoked. */
  until: string | null;
  /** The time of its last use; null if it was not used, and undefined if uses are not noted. */
  used: string | null | undefined;
  /** How it ended, if it did. */
  ended: "revoked" | "expired" | null;
}

/** The lists of the host from which permissions come. */
export interface Sources {
  grants: readonly Grant[];
  standing: readonly StandingGrant[];
  allowances: readonly Allowance[];
  folders: readonly AllowedFolder[];
  servers: readonly OwnServerView[];
  terminalDecides: boolean;
}

const anywhere = { session: null, until: null, used: undefined, ended: null } as const;

/** Returns all permissions: those that hold before those that ended, and the newest first. */
export function listPermissions(from: Sources, now: number): Permission[] {
  const all: Permission[] = [
    ...from.grants.map((grant) => ofGrant(grant, now)),
    ...from.standing.map((grant) => ofFile(grant, now)),
    ...from.allowances.map(ofAllowance),
    ...from.folders.map(({ folder, at }): Permission => {
      return {
        ...anywhere,
        key: `folder ${folder}`,
        allows: { kind: "folder", folder },
        by: "",
        given: at,
      };
    }),
    ...from.servers.filter((server) => server.reads_may_run).map(ofServer),
  ];
  if (from.terminalDecides)
    all.push({
      ...anywhere,
      key: "terminal",
      allows: { kind: "terminal" },
      by: "window",
      given: null,
    });
  const order = (one: Permission): string => `${one.ended ? 0 : 1}${one.given ?? ""}`;
  return all.sort((a, b) => order(b).localeCompare(order(a)));
}

const isOver = (until: string, now: number): boolean => Date.parse(until) <= now;

function ofGrant(grant: Grant, now: number): Permission {
  return {
    key: `grant ${grant.id}`,
    allows: {
      kind: "tool",
      id: grant.id,
      tool: grant.tool,
      values: grant.pattern,
      inFile: false,
    },
    by: grant.granted_by ?? "",
    given: grant.created_at,
    session: grant.session,
    until: grant.expires_at,
    used: grant.last_used_at ?? null,
    ended: grant.revoked_at ? "revoked" : isOver(grant.expires_at, now) ? "expired" : null,
  };
}

function ofFile(grant: StandingGrant, now: number): Permission {
  return {
    key: `file ${grant.id}`,
    allows: {
      kind: "tool",
      id: grant.id,
      tool: grant.tool,
      values: grant.arguments ?? {},
      inFile: true,
    },
    by: "file",
    given: null,
    session: grant.session ?? null,
    until: grant.expires_at,
    used: undefined,
    ended: isOver(grant.expires_at, now) ? "expired" : null,
  };
}

function ofAllowance({ destination, session, by, given_at, last_used_at }: Allowance): Permission {
  return {
    key: `allowance ${JSON.stringify([session ?? null, destination.kind, destination.name])}`,
    allows: { kind: "destination", destination },
    by,
    given: given_at,
    session: session ?? null,
    until: null,
    used: last_used_at ?? null,
    ended: null,
  };
}

function ofServer({ name }: OwnServerView): Permission {
  return {
    ...anywhere,
    key: `reads ${name}`,
    allows: { kind: "reads", server: name },
    by: "window",
    given: null,
  };
}

/** Whether a permission can be revoked from the list. An ended one cannot, except one of the file, which stays there until it is removed. */
export function canRevoke({ allows, ended }: Permission): boolean {
  if (allows.kind === "terminal") return false;
  return ended === null || (allows.kind === "tool" && allows.inFile);
}
