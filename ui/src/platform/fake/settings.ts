// Settings, keys, status and the doctor of the in-memory host.
import type { CredentialState } from "../generated/CredentialState";
import type { Settings } from "../generated/Settings";
import { failure, type Handlers, type World } from "./world";

const defaults: Settings = {
  language: "system",
  theme: "system",
  agent_enabled: true,
  switches: { agents_off: [], tools_off: [] },
  welcomed: true,
  model: { provider: "offline", base_url: "https://api.openai.com/v1", model: "gpt-4o-mini", reasoning: false, idle_timeout_s: 60, max_retries: 2 },
  egress: { allowed: true, redaction: "basic" },
  limits: { rounds: 6, model_calls: 24, hops: 6, calls_per_round: 3, window_messages: 20, result_chars: 16_000, approval_expiry_s: 600, message_chars: 20_000, deadline_s: 60 },
  conversation: {
    mode: "summary_buffer",
    scope: "per_conversation",
    key: { source: "conversation_id", name: "" },
    max_messages: 100,
    max_tokens: 12_000,
    window_messages: 0,
    window_tokens: 0,
    ttl_seconds: 0,
    max_items: 0,
    summary: {
      update_method: "llm",
      refresh_policy: "threshold",
      update_timing: "async_post_turn",
      max_tokens: 800,
      max_messages_since_update: 6,
      max_tokens_since_update: 1_500,
      cooldown_seconds: 10,
      period_seconds: 60,
      every_messages: 0,
    },
  },
  budgets: { run_tokens: 300_000, run_usd: 1, session_tokens: 0, session_usd: 0, day_tokens: 0, day_usd: 20, max_output_tokens: 0 },
  policy: "writes_require_approval",
  decide_from_terminal: false,
  time_zone: "system",
  packs: {},
};

export function seedSettings(world: World): void {
  const settings = structuredClone(defaults);
  settings.language = world.options.get("lang") ?? "system";
  settings.theme = world.options.get("theme") ?? "system";
  settings.agent_enabled = !world.options.has("off");
  settings.welcomed = world.scenario !== "first-run";
  if (world.options.has("model")) settings.model.provider = "openai_compatible";
  world.settings = {
    settings,
    forced: world.scenario === "forced" ? { agent_enabled: "AGENT_ENABLED=false", "limits.rounds": "AGENT_MAX_ROUNDS=4" } : {},
    keyring:
      world.scenario === "offline-keyring"
        ? { state: "missing", message: "No keyring answers on this machine, so keys can be kept for this run only." }
        : { state: "ready", message: "Keys are kept in the system's keyring." },
    credentials: [
      { name: "web-api-example/DEMO_API_TOKEN", pack: "web-api-example", pack_title: "Parcels (example of a web API)", env_var: "DEMO_API_TOKEN", tools: ["Hold a parcel"], state: "missing" },
    ],
    secrets_set: world.options.has("model") ? ["OPENAI_API_KEY"] : [],
    data_dir: "/home/ana/.local/share/countersign",
    version: "0.1.0",
    locale: world.options.get("lang") ?? (typeof navigator === "undefined" ? "en" : navigator.language),
  };
}

const setCredential = (world: World, name: string, state: CredentialState): void => {
  world.settings.credentials = world.settings.credentials.map((one) => (one.name === name ? { ...one, state } : one));
};

const untested = {
  host: "api.openai.com",
  models: [],
  capabilities: { tools: true, parallel_tools: true, streaming: true, structured_output: true, reasoning: false, context_tokens: 128_000, max_output_tokens: 16_000 },
};

const modelLabel = (world: World): string => {
  const { model } = world.settings.settings;
  return model.provider === "offline" ? "Offline model" : model.model;
};

type Area = "app_status" | "service_level" | "run_request" | "switch_set" | "settings_get" | "settings_set" | "secret_set" | "secret_delete" | "model_test" | "model_servers" | "doctor";

export const settingsHandlers: Pick<Handlers, Area> = {
  app_status: (_params, world) => ({
    running: [...world.sessions.values()].filter((session) => session.running).length,
    waiting_approvals: world.waiting(),
    audit_ok: world.scenario !== "error",
    agent_enabled: world.settings.settings.agent_enabled,
    model_label: modelLabel(world),
    notices: world.scenario === "error" ? [{ code: "turns_interrupted", text: "2 answers were interrupted when Countersign closed." }] : [],
    now: world.now(),
  }),
  switch_set: ({ target, on }, world) => {
    const { switches } = world.settings.settings;
    const list = target.kind === "agent" ? switches.agents_off : switches.tools_off;
    const rest = list.filter((id) => id !== target.id);
    const names = on ? rest : [...rest, target.id];
    const settings = { ...world.settings.settings, switches: target.kind === "agent" ? { ...switches, agents_off: names } : { ...switches, tools_off: names } };
    world.settings = { ...world.settings, settings };
    world.push({ push: "settings", settings });
    return world.settings;
  },
  settings_get: (_params, world) => {
    if (world.scenario === "broken") throw failure("internal_error", "The database was written by a newer Countersign.", "Install version 0.3.0 or newer, or choose another data folder.", "database_newer");
    return world.settings;
  },
  settings_set: ({ settings }, world) => {
    if (settings.limits.rounds < 1 || settings.limits.rounds > 20) {
      throw failure("invalid_input", "Model calls per turn must lie between 1 and 20.", "Choose a number from 1 to 20.", "invalid_setting");
    }
    const percent = settings.packs["campaign-portfolio-pacing"]?.settings["on_track_percent"];
    if (typeof percent === "number" && (percent < 0 || percent > 100)) {
      const error = failure("invalid_input", "on_track_percent must be a number from 0 to 100.", undefined, "setting_out_of_range");
      throw { ...error, details: { ...error.details, setting: "on_track_percent", min: 0, max: 100 } };
    }
    world.settings = { ...world.settings, settings, locale: settings.language === "system" ? "en" : settings.language };
    world.push({ push: "settings", settings });
    return world.settings;
  },
  secret_set: ({ name }, world) => {
    world.settings.secrets_set = [...new Set([...world.settings.secrets_set, name])];
    setCredential(world, name, "stored");
    return {};
  },
  secret_delete: ({ name }, world) => {
    world.settings.secrets_set = world.settings.secrets_set.filter((known) => known !== name);
    setCredential(world, name, "missing");
    return {};
  },
  model_test: async (_params, world) => {
    await world.wait(900);
    if (world.scenario === "error") {
      return { ...untested, ok: false, message: "The server does not accept the key.", hint: "Enter a valid key.", problem: "key" };
    }
    return { ...untested, ok: true, message: "The model answered in 412 ms.", models: ["gpt-4o", "gpt-4o-mini"] };
  },
  model_servers: async (_params, world) => {
    await world.wait(400);
    return { servers: world.scenario === "empty" ? [] : [{ name: "Ollama", base_url: "http://127.0.0.1:11434/v1", models: ["qwen3:8b", "llama3.1:8b"] }] };
  },
  service_level: (_params, world) => {
    const empty = world.scenario === "empty";
    const figure = (kind: "simple" | "with_tools", percentile: number, target_ms: number, measured: number) => ({ class: kind, percentile, target_ms, measured_ms: empty ? undefined : measured, runs: empty ? 0 : 64 });
    return {
      window: 200,
      runs: empty ? 0 : 131,
      latencies: [figure("simple", 50, 1500, 640), figure("simple", 95, 8000, 2310), figure("with_tools", 50, 5000, 3120), figure("with_tools", 95, 8000, 9450)],
      errors: world.scenario === "error" ? [{ code: "llm_error", runs: 3 }] : [],
      spent: { tokens: empty ? 0 : 48_210, usd: empty ? 0 : 0.0912, calls: empty ? 0 : 22, unpriced_calls: world.scenario === "error" ? 2 : 0 },
      prices: {
        file: "/home/ana/.local/share/countersign/prices.toml",
        found: world.scenario === "error",
        prices: [{ model: "gpt-4o-mini", input_usd: 0.15, output_usd: 0.6 }],
        fault: world.scenario === "error" ? "line 3: missing field `output_usd`" : undefined,
        model: modelLabel(world),
        model_priced: world.scenario !== "error",
      },
    };
  },
  run_request: () => {
    throw failure("invalid_input", "Runs are started by programs, not by this window.");
  },
  doctor: (_params, world) => ({
    ok: world.scenario !== "error",
    checks: [
      { name: "data_dir", state: "ok", message: "The data folder is writable." },
      { name: "keyring", state: world.scenario === "offline-keyring" ? "warning" : "ok", message: world.settings.keyring.message, hint: world.scenario === "offline-keyring" ? "Start gnome-keyring or KeePassXC with the Secret Service turned on." : null },
      { name: "audit", state: world.scenario === "error" ? "failed" : "ok", message: world.scenario === "error" ? "Record 41 does not match its hash." : "186 records verify." },
    ],
  }),
};
