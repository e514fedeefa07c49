// An in-memory host for a plain browser: every state of the UI can be looked at without the desktop app.
import type { CommandName, Params, Platform, Response } from "../types";
import { approvalHandlers, seedApprovals } from "./approvals";
import { auditHandlers } from "./audit";
import { importHandlers } from "./imports";
import { instructionHandlers } from "./instructions";
import { packHandlers } from "./packs";
import { shopPicture } from "./shop";
import { seedSessions, sessionHandlers } from "./sessions";
import { seedSettings, settingsHandlers } from "./settings";
import { stretch } from "./stretch";
import { failure, type Handlers, World } from "./world";

const handlers: Handlers = {
  ...sessionHandlers,
  ...approvalHandlers,
  ...auditHandlers,
  ...packHandlers,
  ...settingsHandlers,
  ...importHandlers,
  ...instructionHandlers,
};

export function fakePlatform(kind: Platform["window"], options: URLSearchParams): Platform {
  const world = new World(options.get("fake") || "full", options);
  seedSettings(world);
  seedSessions(world);
  seedApprovals(world);
  const stretched = world.scenario === "long" || world.scenario === "word";
  const shape = <T>(value: T): T => (stretched ? stretch(value, world.scenario === "word") : value);
  // For looking at states from a console or a script.
  Object.assign(globalThis, { fakeWorld: world });

  return {
    window: kind,
    async call<K extends CommandName>(command: K, params: Params<K>): Promise<Response<K>> {
      await world.wait(15);
      const start = command === "settings_get" || command === "app_status";
      if (world.scenario === "failing" && !start) throw failure("internal_error", "The database cannot be read: the disk reports an error.", "Check the disk, then try again. Nothing was changed.", "database_unreadable");
      if (world.scenario === "slow" && !start) await new Promise(() => {});
      return shape(structuredClone(await handlers[command](params, world)));
    },
    onPush(listener) {
      const shaped: typeof listener = (push) => listener(shape(push));
      world.pushes.add(shaped);
      return () => world.pushes.delete(shaped);
    },
    ready: async () => {},
    openFiles: async () => ["/home/ana/exports/delivery-november.csv"],
    pickFolder: async () => "/home/ana/audit-export",
    openLink: async () => true,
    imageUrl: (path) => shopPicture(path),
  };
}
