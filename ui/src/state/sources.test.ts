// The sources and the files that wait for an import.
import { beforeEach, expect, test, vi } from "vitest";
import { Sources } from "./sources.svelte";

const host = vi.hoisted(() => ({
  push: (_: unknown): void => {},
  answer: (): unknown => ({ sources: [] }),
  asked: 0,
  last: "",
}));
vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  platform: () => ({
    onPush: (listener: (push: unknown) => void) => ((host.push = listener), () => {}),
    openFiles: () => Promise.resolve(["/a/chosen.csv"]),
  }),
  call: async (command: string) => {
    host.asked += 1;
    host.last = command;
    await Promise.resolve();
    return host.answer();
  },
}));

let sources: Sources;
beforeEach(() => {
  host.asked = 0;
  host.answer = () => ({ sources: [{ name: "ads" }] });
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("removeEventListener", () => {});
  sources = new Sources();
});

test("the sources are read at first and after missed pushes", async () => {
  const stop = sources.follow();
  await vi.waitFor(() => expect(sources.find("ads")).not.toBeNull());
  host.push({ push: "lagged" });
  await vi.waitFor(() => expect(host.asked).toBe(2));
  expect(sources.find("other")).toBeNull();
  stop();
});

test("a failure is kept until the sources can be read", async () => {
  host.answer = () => Promise.reject(new Error("locked"));
  await sources.read();
  expect([sources.error?.message, sources.list]).toEqual(["locked", null]);
  host.answer = () => ({ sources: [] });
  await sources.read();
  expect([sources.error, sources.list]).toEqual([null, []]);
});

test("the list tells of the file of an earlier version, also that it is gone", async () => {
  let isThere = true;
  host.answer = () => {
    if (host.last === "source_old_data_remove") isThere = false;
    return { sources: [], old_data: isThere };
  };
  await sources.read();
  expect(sources.hasOldData).toBe(true);
  await sources.removeOldData();
  expect(sources.hasOldData).toBe(false);
  host.answer = () => Promise.reject(new Error("busy"));
  await expect(sources.removeOldData()).rejects.toThrow("busy");
  expect(host.last).toBe("source_old_data_remove");
});

test("each file waits once, and the hurry ends with the last one", async () => {
  sources.add(["/a/one.csv", "/a/two.csv", "/a/one.csv"]);
  await sources.choose();
  sources.add(["/a/two.csv"]);
  expect(sources.waiting).toEqual(["/a/one.csv", "/a/two.csv", "/a/chosen.csv"]);
  sources.isHurried = true;
  sources.leave("/a/one.csv");
  expect(sources.isHurried).toBe(true);
  sources.leave("/a/two.csv");
  sources.leave("/a/chosen.csv");
  expect([sources.waiting, sources.isHurried]).toEqual([[], false]);
});
