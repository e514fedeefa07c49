// The sample is added once, and its import is followed to the end.
import { beforeEach, expect, test, vi } from "vitest";
import { Sample } from "./sample.svelte";

const host = vi.hoisted(() => ({
  asked: [] as string[],
  views: [] as unknown[],
}));
vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  call: async (command: string) => {
    host.asked.push(command);
    await Promise.resolve();
    if (command === "source_sample") return { job: "j" };
    if (command === "source_job") return host.views.shift();
    return { sources: [] };
  },
}));

const running = { results: null, is_stopped: false };

beforeEach(() => {
  host.asked = [];
  vi.stubGlobal("setTimeout", (then: () => void) => then());
});

test("the import is followed to its end, and the sources are read again", async () => {
  host.views = [running, running, { ...running, results: [] }];
  const sample = new Sample();
  const added = sample.add();
  expect(sample.isAdding).toBe(true);
  expect(await sample.add()).toBe(false);
  expect(await added).toBe(true);
  expect(host.asked).toEqual([
    "source_sample",
    "source_job",
    "source_job",
    "source_job",
    "sources_list",
  ]);
  expect([sample.isAdding, sample.error]).toEqual([false, null]);
});

test("a failure is told", async () => {
  const failure = { code: "internal", message: "No room." };
  host.views = [{ ...running, failure }];
  const sample = new Sample();
  expect(await sample.add()).toBe(false);
  expect(sample.error).toEqual(failure);
});
