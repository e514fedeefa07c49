// A file that a person maps: the last survey of the host, the choices, and the requests that follow from a change.
import { Requests } from "../../../lib/requests";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { DateOrder } from "../../../platform/generated/DateOrder";
import type { FileSurvey } from "../../../platform/generated/FileSurvey";
import type { ImportOptions } from "../../../platform/generated/ImportOptions";
import type { PackFile } from "../../../state/imports.svelte";
import {
  askedFields,
  asksOrder,
  choicesOf,
  isUsable,
  missingFields,
  optionsOf,
  recognised,
  withField,
  type Choices,
} from "./choices";

/** Why a file cannot be imported yet. */
export type Obstacle = "reading" | "missing" | "order" | "constant" | "nothing" | null;

export class FileMapping {
  survey = $state.raw<FileSurvey | null>(null);
  choices = $state.raw<Choices>({ fields: [], constants: {}, order: "" });
  checking = $state(false);
  error = $state.raw<AgentError | null>(null);
  /** Whether a person changed a choice. */
  private changed = false;
  private readonly requests = new Requests();

  constructor(readonly file: PackFile) {}

  /** Surveys the file with the columns that are recognised or remembered. */
  async open(): Promise<void> {
    this.changed = false;
    await this.ask(null, (survey) => (this.choices = choicesOf(survey)));
  }

  async setField(at: number, field: string): Promise<void> {
    await this.change({ fields: withField(this.choices.fields, at, field) });
  }

  async setOrder(order: DateOrder | ""): Promise<void> {
    await this.change({ order });
  }

  /** Sets a value for all rows. The last check stays valid meanwhile, so that the import button can still be used. */
  async setConstant(name: string, value: string): Promise<void> {
    const entered = name === "currency" ? value.toUpperCase() : value;
    await this.change({ constants: { ...this.choices.constants, [name]: entered } }, true);
  }

  /** Forgets how files with these columns were mapped, and surveys the file again. */
  async forget(): Promise<void> {
    if (!this.survey) return;
    try {
      await call("data_layout_forget", { pack: this.file.pack, shape: this.survey.shape });
      await this.open();
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Ignores the answer to a request that still runs. */
  close(): void {
    this.requests.stop();
  }

  /** Returns why the file cannot be imported yet; null if it can. */
  get obstacle(): Obstacle {
    const { survey, choices } = this;
    if (!survey || survey.problem) return "reading";
    if (missingFields(survey, choices).length > 0) return "missing";
    if (asksOrder(survey) && choices.order === "") return "order";
    const asked = askedFields(survey, choices);
    if (asked.some(({ name }) => !isUsable(name, choices.constants[name] ?? ""))) return "constant";
    if (this.checking || !survey.check) return "reading";
    return survey.check.accepted === 0 ? "nothing" : null;
  }

  /** Returns the options of the import. If the user left recognised columns unchanged, only the choice to skip rejected lines is sent. */
  get options(): ImportOptions {
    return this.optionsWith((this.survey?.check?.rejected ?? 0) > 0);
  }

  private optionsWith(skip: boolean): ImportOptions {
    const { survey } = this;
    const isKnown = survey !== null && (survey.layout !== undefined || survey.is_remembered);
    if (!survey || survey.is_fixed || (isKnown && !this.changed)) return recognised(skip);
    return optionsOf(survey, this.choices, skip);
  }

  private async change(choices: Partial<Choices>, quiet = false): Promise<void> {
    this.changed = true;
    this.choices = { ...this.choices, ...choices };
    await this.ask(this.optionsWith(false), () => {}, quiet);
  }

  private async ask(
    options: ImportOptions | null,
    take: (survey: FileSurvey) => void,
    quiet = false,
  ): Promise<void> {
    const isStopped = this.requests.begin();
    this.error = null;
    if (!quiet) this.checking = true;
    try {
      const survey = await call("data_survey", { ...this.file, ...(options && { options }) });
      if (isStopped()) return;
      take(survey);
      this.survey = survey;
    } catch (cause) {
      if (isStopped()) return;
      this.error = asAgentError(cause);
    }
    this.checking = false;
  }
}
