// One source: its description, its rows, and what a person changes.
import { t } from "../../../i18n/index.svelte";
import { Requests } from "../../../lib/requests";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { Definitions } from "../../../platform/generated/Definitions";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import type { MeasureUse } from "../../../platform/generated/MeasureUse";
import type { ModelAccess } from "../../../platform/generated/ModelAccess";
import type { SourceDefineParams } from "../../../platform/generated/SourceDefineParams";
import type { SourceDescription } from "../../../platform/generated/SourceDescription";
import { PagedRows } from "../../../results/grid/rows.svelte";
import { sources } from "../../../state/sources.svelte";
import {
  applied,
  calculationOf,
  choiceOf,
  definedCorrection,
  definitionName,
  measureOf,
  type Correction,
} from "../columns/correction";
import { columnKey } from "../import/import.svelte";
import { figureText, rowColumn } from "./figures";

/** A correction that can be taken back: the definitions before it, and the use of the column. */
interface Corrected {
  column: FoundColumn;
  definitions: Definitions;
  before: Correction;
}

/** The total of a column before and after a correction. */
export interface Totals {
  before: string;
  after: string;
}

export class SourceState {
  description = $state.raw<SourceDescription | null>(null);
  error = $state.raw<AgentError | null>(null);
  /** The last action in words, if the page does not show what it did. */
  said = $state("");
  /** The action that runs. */
  busy = $state<"undo" | "remove" | "approve" | "define" | null>(null);
  /** The last correction, until another change of the definitions. */
  corrected = $state.raw<Corrected | null>(null);
  readonly rows: PagedRows;
  private readonly requests = new Requests();

  constructor(readonly name: string) {
    this.rows = new PagedRows(async ({ offset, limit, order }) => {
      const place = { offset, limit, ...(order && { order }) };
      const found = await call("source_rows", { name, columns: [], ...place });
      const known = sources.find(name)?.columns ?? [];
      const columns = found.columns.map((column) =>
        rowColumn(
          column,
          known.find((one) => one.name === column.name),
        ),
      );
      return { ...found, columns };
    });
  }

  async open(): Promise<void> {
    // The list has the uses and units of the columns.
    if (!sources.find(this.name)) await sources.read();
    if (!sources.find(this.name)?.computed_from?.length) this.rows.open();
    await this.read();
  }

  async read(): Promise<void> {
    const isStopped = this.requests.begin();
    try {
      const found = await call("source_describe", { name: this.name });
      if (isStopped()) return;
      this.description = found;
      this.error = null;
    } catch (cause) {
      if (!isStopped()) this.error = asAgentError(cause);
    }
  }

  /** Reads everything again if the data have another version than those that are shown. */
  async follow(version: string): Promise<void> {
    const shown = this.description?.source.version;
    if (this.busy !== null || shown === undefined || shown === version) return;
    await this.reread();
  }

  /** Reads the rows and the description again. */
  async reread(): Promise<void> {
    this.rows.begin();
    await this.read();
  }

  /** Takes the newest import back. */
  async undo(): Promise<void> {
    await this.act("undo", async () => {
      await sources.undo(this.name);
      await this.reread();
      this.said = t("import.undone", { source: this.name });
    });
  }

  /** Removes the source. Returns whether it is gone. */
  async remove(): Promise<boolean> {
    return this.act("remove", () => sources.remove(this.name));
  }

  /** Approves all definitions that are shown, or those with these hashes. If any changed since, none is approved, and those of now are shown. */
  async approve(only: readonly string[] = []): Promise<void> {
    const { definitions_hash } = this.description!;
    const chosen = only.length > 0 ? { only: [...only] } : {};
    await this.act("approve", async () => {
      try {
        this.description = await call("source_approve", {
          name: this.name,
          definitions_hash,
          ...chosen,
        });
      } catch (cause) {
        await this.read();
        throw cause;
      }
      await sources.read();
    });
  }

  /** Stores the definitions as a person wrote them. Returns whether they have no fault. */
  async write(text: string): Promise<boolean> {
    this.corrected = null;
    return this.define({ text, columns: {} });
  }

  async setAccess(models_get: ModelAccess): Promise<void> {
    await this.define({ models_get, columns: {} });
  }

  /** Corrects a column. Fails if the host refuses it. */
  async correct(column: FoundColumn, correction: Correction): Promise<void> {
    const { definitions, source } = this.description!;
    const before = definedCorrection(definitions, column, source.columns);
    await this.put(column, applied(definitions, column, correction), correction);
    this.corrected = { column, definitions, before };
  }

  /** Takes the last correction back. */
  async undoCorrection(): Promise<void> {
    const { corrected } = this;
    if (!corrected) return;
    await this.act("define", async () => {
      await this.put(corrected.column, corrected.definitions, corrected.before);
      this.corrected = null;
    });
  }

  private async put(
    column: FoundColumn,
    definitions: Definitions,
    correction: Correction,
  ): Promise<void> {
    const key = columnKey(this.description!.source.columns, column);
    this.description = await call("source_define", {
      name: this.name,
      definitions,
      columns: { [key]: choiceOf(correction, column) },
    });
    // The description of a change has no samples.
    await this.read();
    await sources.read();
  }

  /** Returns the total of a column as it is defined now, and as a correction would make it. */
  async totals(column: FoundColumn, correction: Correction): Promise<Totals> {
    const { definitions } = this.description!;
    const known = measureOf(definitions, column.name);
    const nameOf = (name: string): string => measureOf(definitions, name) ?? definitionName(name);
    const after = calculationOf(column.name, correction, nameOf);
    const measures: MeasureUse[] = [
      ...(known === null ? [] : [{ measure: known, as: "before" }]),
      ...(after === null ? [] : [{ define: after, as: "after" }]),
    ];
    if (measures.length === 0) return { before: "–", after: "–" };
    const result = await call("source_measure", {
      query: { source: this.name, measures },
    });
    return { before: figureText(result, "before"), after: figureText(result, "after") };
  }

  private async define(change: Omit<SourceDefineParams, "name">): Promise<boolean> {
    return this.act("define", async () => {
      this.description = await call("source_define", { name: this.name, ...change });
      await this.read();
      await sources.read();
    });
  }

  private async act(what: typeof this.busy, run: () => Promise<void>): Promise<boolean> {
    this.busy = what;
    [this.error, this.said] = [null, ""];
    try {
      await run();
      return true;
    } catch (cause) {
      this.error = asAgentError(cause);
      return false;
    } finally {
      this.busy = null;
    }
  }
}
