// Connecting a model: what is offered, where a problem leads, and that stopping stops everything that has not begun.
import { describe, expect, test } from "vitest";
import type { ConnectionProblem } from "../../../platform/generated/ConnectionProblem";
import type { Settings } from "../../../platform/generated/Settings";
import { ADDRESSES, OFFERED } from "../providers";
import {
  applyPlan,
  choices,
  connect,
  filtered,
  isAddress,
  placeOf,
  preselected,
  stepAfter,
  type Plan,
  type Stage,
} from "./steps";

const OLLAMA = {
  name: "Ollama",
  base_url: "http://127.0.0.1:11434/v1",
  models: ["llama3", "qwen"],
};
const PLAN: Plan = {
  provider: "anthropic",
  address: " https://api.anthropic.com/v1 ",
  model: "claude",
  runsHere: false,
  key: " sk-ant ",
  thisRunOnly: false,
};

describe("offered servers", () => {
  test("servers on this computer come first and need no key", () => {
    const offered = choices([OLLAMA]);
    expect(offered.map((choice) => choice.kind)).toEqual([
      "local",
      ...OFFERED.map(([kind]) => kind),
      "other",
    ]);
    expect(offered.map(stepAfter)).toEqual(["model", ...OFFERED.map(() => "key"), "key"]);
    expect(offered[0]).toMatchObject({ address: OLLAMA.base_url, models: OLLAMA.models });
    expect(offered.slice(1).map((choice) => choice.address)).toEqual([
      ...OFFERED.map(([, provider]) => ADDRESSES[provider]),
      "",
    ]);
  });
  test("a local server without a model leads to the step with its address and key", () => {
    expect(stepAfter(choices([{ ...OLLAMA, models: [] }])[0]!)).toBe("key");
  });
});

test("requests go only to web addresses without a user name", () => {
  expect(
    [
      "https://a.example/v1",
      " http://127.0.0.1:8000/v1 ",
      "a.example",
      "ftp://a/",
      "https://me:x@a/",
      "",
    ].map(isAddress),
  ).toEqual([true, true, false, false, false, false]);
});

test("each problem leads to the step that can correct it", () => {
  const steps: Record<string, ConnectionProblem[]> = {
    "key/key": ["key", "key_missing", "key_unusable"],
    "key/address": ["address", "dns", "no_connection", "api"],
    "model/model": ["model", "refused", "key_permission"],
    "key/null": ["timeout", "tls", "tls_issuer", "proxy", "limit", "server", "cloud_models_off"],
  };
  for (const [place, problems] of Object.entries(steps))
    for (const problem of problems) {
      const { step, field } = placeOf(problem);
      expect([problem, `${step}/${field}`]).toEqual([problem, place]);
    }
});

test("models are found by a part of their name, and a model is selected only if the choice is clear", () => {
  expect(filtered(["GPT-4o", "gpt-4o-mini", "o3"], " 4O ")).toEqual(["GPT-4o", "gpt-4o-mini"]);
  expect(preselected(["a", "b"], "b")).toBe("b");
  expect(preselected(["a"], "b")).toBe("a");
  expect(preselected(["a", "b"], "c")).toBe("");
});

test("a plan changes only the model's provider, address and name", () => {
  const settings = {
    theme: "dark",
    model: { provider: "offline", base_url: "", model: "", reasoning: true, max_retries: 7 },
  } as Settings;
  applyPlan(settings, PLAN);
  expect(settings).toEqual({
    theme: "dark",
    model: {
      provider: "anthropic",
      base_url: "https://api.anthropic.com/v1",
      model: "claude",
      reasoning: true,
      max_retries: 7,
    },
  });
});

test("a model runs here only if the person says so, at the address that is connected", () => {
  const model = { runs_here: ["http://127.0.0.1:1/v1"] };
  const settings = { model } as unknown as Settings;
  const plan = { ...PLAN, address: OLLAMA.base_url };
  applyPlan(settings, { ...plan, runsHere: true });
  expect(settings.model.runs_here).toEqual(["http://127.0.0.1:1/v1", OLLAMA.base_url]);
  applyPlan(settings, plan);
  expect(settings.model.runs_here).toEqual(["http://127.0.0.1:1/v1"]);
});

describe("connecting", () => {
  function world(stopAfter?: Stage) {
    const done: string[] = [];
    let stopped = false;
    const step = (stage: Stage, text: string) => async () => {
      await Promise.resolve();
      done.push(text);
      stopped ||= stage === stopAfter;
    };
    return {
      done,
      stages: [] as Stage[],
      isStopped: () => stopped,
      calls: {
        saveSettings: step("settings", "settings"),
        storeKey: async (key: string, thisRunOnly: boolean) =>
          step("key", `key ${key} ${thisRunOnly}`)(),
        test: async () => {
          await step("test", "test")();
          return "ready";
        },
      },
    };
  }
  const run = (plan: Plan, of: ReturnType<typeof world>) =>
    connect(plan, of.calls, (stage) => of.stages.push(stage), of.isStopped);

  test("connecting saves the settings before the key, and tests at the end", async () => {
    const of = world();
    expect(await run(PLAN, of)).toBe("ready");
    expect(of.done).toEqual(["settings", "key sk-ant false", "test"]);
    expect(of.stages).toEqual(["settings", "key", "test"]);
  });
  test("connecting stores no key if none was entered", async () => {
    const of = world();
    await run({ ...PLAN, key: "  " }, of);
    expect(of.done).toEqual(["settings", "test"]);
  });
  test("connecting makes no further call once it was stopped", async () => {
    for (const [after, done] of [
      ["settings", ["settings"]],
      ["key", ["settings", "key sk-ant false"]],
      ["test", ["settings", "key sk-ant false", "test"]],
    ] as const) {
      const of = world(after);
      expect(await run(PLAN, of)).toBeNull();
      expect(of.done).toEqual(done);
    }
  });
  test("a refusal ends connecting", async () => {
    const of = world();
    of.calls.saveSettings = () => Promise.reject(new Error("declined"));
    await expect(run(PLAN, of)).rejects.toThrow("declined");
    expect(of.done).toEqual([]);
  });
});
