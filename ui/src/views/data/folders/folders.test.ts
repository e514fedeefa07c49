// The folders for imports without a person, with a host that answers.
import { beforeEach, expect, test, vi } from "vitest";
import { Folders } from "./folders.svelte";

const host = vi.hoisted(() => ({
  sent: [] as unknown[],
  picked: null as string | null,
  refuses: false,
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  platform: () => ({ pickFolder: () => Promise.resolve(host.picked) }),
  call: async (command: string, params: { folder?: string; allowed?: boolean }) => {
    host.sent.push([command, params]);
    await Promise.resolve();
    if (host.refuses) throw new Error("/ is too wide: name the folder in which the exports are.");
    const { folder, allowed } = params;
    return { folders: allowed ? [{ folder, at: "2026-11-18T09:00:00Z" }] : [] };
  },
}));

beforeEach(() => {
  [host.sent, host.picked, host.refuses] = [[], "/home/ana/exports", false];
});

test("a person allows a folder by choosing it, and takes the permission back", async () => {
  const folders = new Folders();
  expect(folders.list).toBeNull();
  await folders.read();
  expect(folders.list).toEqual([]);
  await folders.choose();
  expect(host.sent.at(-1)).toEqual([
    "folder_allow",
    { folder: "/home/ana/exports", allowed: true },
  ]);
  expect(folders.list?.map(({ folder }) => folder)).toEqual(["/home/ana/exports"]);
  expect(folders.said).toBe("/home/ana/exports is allowed.");
  await folders.set("/home/ana/exports", false);
  expect([folders.list, folders.said]).toEqual([[], "/home/ana/exports is no longer allowed."]);
});

test("a choice that is left allows nothing, and a refusal is shown", async () => {
  const folders = new Folders();
  host.picked = null;
  await folders.choose();
  expect(host.sent).toEqual([]);
  [host.picked, host.refuses] = ["/", true];
  await folders.choose();
  expect(folders.error?.message).toContain("too wide");
  expect(folders.isChanging).toBe(false);
});
