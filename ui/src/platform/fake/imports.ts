// Imports of the in-memory host: a progress that moves, and one that ends in errors (a file named *bad*).
import type { DatasetsResponse } from "../generated/DatasetsResponse";
import type { ImportView } from "../generated/ImportView";
import { failure, type Handlers, type World } from "./world";

const sets: DatasetsResponse = {
  active: "sample",
  sample: { rows: 21_660, accounts: 3, first_day: "2026-05-26", last_day: "2026-11-21" },
  imported: { rows: 0, accounts: 0 },
};

const jobs = new Map<string, ImportView & { cancelled?: boolean }>();

async function run(world: World, job: ImportView & { cancelled?: boolean }): Promise<void> {
  for (let step = 1; step <= 20 && !job.cancelled; step++) {
    await world.wait(120);
    job.done_bytes = (job.total_bytes / 20) * step;
    job.rows_read = 480 * step;
    world.push({ push: "import", import: structuredClone(job) });
  }
  job.finished = true;
  if (job.cancelled) job.stopped = true;
  else if (job.file.includes("busy")) job.failure = failure("internal_error", "The pacing data is being written by an import.", "Try again when the import is done.", "pacing_busy");
  else if (job.file.includes("bad") || world.scenario === "error") {
    job.errors = [
      { file: job.file, line: 7, column: "spend", problem: { code: "not_a_number", text: "12,5O" } },
      { file: job.file, line: 19, column: "date", problem: { code: "not_a_day", text: "2026-13-01" } },
      { file: job.file, line: 214, column: "", problem: { code: "cell_count", found: 9, expected: 11 } },
    ];
    job.error_count = 214;
  } else {
    job.rows_stored = job.rows_read;
    if (sets.active === "sample") job.notes = ["sample_replaced"];
    sets.active = "imported";
    sets.imported = { rows: sets.imported.rows + job.rows_stored, accounts: 1, first_day: "2026-10-01", last_day: "2026-11-20" };
  }
  world.push({ push: "import", import: structuredClone(job) });
}

type Area = "import_start" | "import_status" | "import_cancel" | "datasets_list" | "dataset_use";

export const importHandlers: Pick<Handlers, Area> = {
  import_start: ({ paths }, world) => {
    const file = paths[0];
    if (!file) throw failure("invalid_input", "No file was given.", "Choose at least one CSV file.");
    const job: ImportView = { job: world.id("import"), file, done_bytes: 0, total_bytes: 1_843_200, rows_read: 0, rows_stored: 0, rows_replaced: 0, finished: false, stopped: false, errors: [], error_count: 0, notes: [] };
    jobs.set(job.job, job);
    void run(world, job);
    return { job: job.job };
  },
  import_status: ({ job }) => {
    const known = jobs.get(job);
    if (!known) throw failure("invalid_input", "There is no such import.");
    return known;
  },
  import_cancel: ({ job }) => {
    const known = jobs.get(job);
    if (known) known.cancelled = true;
    return {};
  },
  datasets_list: () => sets,
  dataset_use: ({ dataset }) => {
    if (dataset === "imported" && sets.imported.rows === 0) throw failure("invalid_input", "No delivery rows have been imported yet.", "Import a CSV file first.", "nothing_imported");
    sets.active = dataset;
    return sets;
  },
};
