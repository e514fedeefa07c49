// Imports of the in-memory host: a progress that moves, and one that ends in errors (a file named *bad*).
import type { ImportView } from "../generated/ImportView";
import { failure, type Handlers, type World } from "./world";

const jobs = new Map<string, ImportView & { cancelled?: boolean }>();

async function run(world: World, job: ImportView & { cancelled?: boolean }): Promise<void> {
  for (let step = 1; step <= 20 && !job.cancelled; step++) {
    await world.wait(120);
    job.done_bytes = (job.total_bytes / 20) * step;
    job.rows_read = 480 * step;
    world.push({ push: "import", import: structuredClone(job) });
  }
  job.finished = true;
  if (job.cancelled) job.message = "The import was stopped. Nothing of it was kept.";
  else if (job.file.includes("bad") || world.scenario === "error") {
    job.errors = [
      { file: job.file, line: 7, column: "spend", problem: '"12,5O" is not an amount.' },
      { file: job.file, line: 19, column: "date", problem: '"2026-13-01" is not a date (use YYYY-MM-DD).' },
      { file: job.file, line: 214, column: "", problem: "The row has 9 cells; the header has 11." },
    ];
    job.error_count = 214;
  } else job.rows_stored = job.rows_read;
  world.push({ push: "import", import: structuredClone(job) });
}

type Area = "import_start" | "import_status" | "import_cancel";

export const importHandlers: Pick<Handlers, Area> = {
  import_start: ({ paths }, world) => {
    const file = paths[0];
    if (!file) throw failure("invalid_input", "No file was given.", "Choose at least one CSV file.");
    const job = { job: world.id("import"), file, done_bytes: 0, total_bytes: 1_843_200, rows_read: 0, rows_stored: 0, finished: false, errors: [], error_count: 0, message: null };
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
};
