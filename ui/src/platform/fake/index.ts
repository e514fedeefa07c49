// An in-memory host for a plain browser: every state of the UI can be looked at without the desktop app.
import type { CommandName, Params, Platform, Response } from "../types";
import { approvalHandlers, seedApprovals } from "./approvals";
import { auditHandlers } from "./audit";
import { importHandlers } from "./imports";
import { packHandlers } from "./packs";
import { shopPicture } from "./shop";
import { seedSessions, sessionHandlers } from "./sessions";
import { seedSettings, settingsHandlers } from "./settings";
import { type Handlers, World } from "./world";

const handlers: Handlers = {
  ...sessionHandlers,
  ...approvalHandlers,
  ...auditHandlers,
  ...packHandlers,
  ...settingsHandlers,
  ...importHandlers,
};

export function fakePlatform(kind: Platform["window"], options: URLSearchParams): Platform {
  const world = new World(options.get("fake") || "full", options);
  seedSettings(world);
  seedSessions(world);
  seedApprovals(world);
  // For looking at states from a console or a script.
  Object.assign(globalThis, { fakeWorld: world });

  return {
    window: kind,
    async call<K extends CommandName>(command: K, params: Params<K>): Promise<Response<K>> {
      await world.wait(15);
      return structuredClone(await handlers[command](params, world));
    },
    onPush(listener) {
      world.pushes.add(listener);
      return () => world.pushes.delete(listener);
    },
    ready: async () => {},
    openFiles: async () => ["/home/ana/exports/delivery-november.csv"],
    pickFolder: async () => "/home/ana/audit-export",
    openLink: async () => true,
    imageUrl: (path) => shopPicture(path),
  };
}
