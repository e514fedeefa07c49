// The connection of a table of a database: the address that a person wrote, what the host found there, and the questions that are open.
// No source exists before the person connects it, and the password is forgotten here when the connection is made or left.
import { Requests } from "../../../lib/requests";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { ImportQuestion } from "../../../platform/generated/ImportQuestion";
import type { ImportResult } from "../../../platform/generated/ImportResult";
import type { SourceAddParams } from "../../../platform/generated/SourceAddParams";
import { sources } from "../../../state/sources.svelte";
import { Job } from "../import/job";
import {
  hasOwnDriver,
  placeOf,
  readAddress,
  type AddressProblem,
  type Encryption,
} from "./address";

/** The step of a connection. */
export type ConnectionPhase = "form" | "looking" | "found" | "connecting" | "connected";

export class Connection {
  phase = $state<ConnectionPhase>("form");
  address = $state("");
  password = $state("");
  table = $state("");
  name = $state("");
  /** The hosts that a driver of the person's own may reach; an empty text for the one of the address. */
  hosts = $state("");
  encryption = $state<Encryption>("address");
  /** The problem of the address. */
  problem = $state<AddressProblem | null>(null);
  /** Whether the password was taken out of the address. */
  wasMoved = $state(false);
  wasStopped = $state(false);
  error = $state.raw<AgentError | null>(null);
  result = $state.raw<ImportResult | null>(null);
  private answers = $state.raw<Readonly<Record<string, string>>>({});
  /** The address that the answers belong to. */
  private answered = "";
  private job: Job | null = null;
  private readonly requests = new Requests();

  get isBusy(): boolean {
    return this.phase === "looking" || this.phase === "connecting";
  }

  /** The questions that are asked in a place of their own. The password has its field in the form. */
  get questions(): readonly ImportQuestion[] {
    return (this.result?.questions ?? []).filter(({ id }) => id !== "password");
  }

  /** Whether the database asks for a password that is not there. */
  get lacksPassword(): boolean {
    return (this.result?.questions ?? []).some(({ id }) => id === "password");
  }

  /** Moves a password out of the address into its own field. */
  tidy(): void {
    const read = readAddress(this.address);
    this.problem = null;
    if (typeof read === "string" || read.password === null) return;
    this.address = read.text;
    this.password = read.password;
    this.wasMoved = true;
  }

  /** Looks at the database: its tables, or the columns of the chosen one. */
  async look(): Promise<void> {
    this.tidy();
    const read = readAddress(this.address);
    this.problem = typeof read === "string" ? read : null;
    if (typeof read === "string") return;
    // A driver that a person accepted for one address is asked about again for another one.
    if (read.text !== this.answered) [this.answers, this.answered] = [{}, read.text];
    const isStopped = this.requests.begin();
    this.phase = "looking";
    const result = await this.ask("source_survey", isStopped);
    if (isStopped()) return;
    this.result = result;
    const isFound = result !== null && !this.lacksPassword;
    this.phase = isFound ? "found" : "form";
  }

  async answer(question: string, value: string): Promise<void> {
    this.answers = { ...this.answers, [question]: value };
    await this.look();
  }

  /** Connects the table, which then is a source. */
  async connect(): Promise<void> {
    if (this.phase !== "found" || this.questions.length > 0) return;
    const isStopped = this.requests.begin();
    this.phase = "connecting";
    const result = await this.ask("source_add", isStopped);
    if (isStopped()) return;
    if (result) this.result = result;
    this.phase = result?.is_stored ? "connected" : "found";
    if (!result?.is_stored) return;
    this.password = "";
    await sources.read();
  }

  /** Stops what the host does. */
  stop(): void {
    this.job?.stop();
  }

  /** Goes back to the form. The answers belong to the address, so they are forgotten. */
  change(): void {
    this.phase = "form";
    this.answers = {};
    [this.result, this.error] = [null, null];
  }

  /** Forgets everything, also what still runs. */
  reset(): void {
    this.requests.stop();
    this.job?.stop();
    this.change();
    [this.address, this.password, this.table, this.name, this.hosts] = ["", "", "", "", ""];
    this.encryption = "address";
    [this.problem, this.wasMoved, this.wasStopped] = [null, false, false];
  }

  private get params(): SourceAddParams {
    const read = readAddress(this.address);
    const place =
      typeof read === "string" ? this.address : placeOf(read, this.encryption, this.table.trim());
    const name = this.name.trim();
    const hosts = hasOwnDriver(this.address) ? this.hosts.trim() : "";
    return {
      place,
      ...(name !== "" && { name }),
      decisions: {
        sheets: [],
        columns: {},
        skip_rejected: false,
        answers: {
          ...this.answers,
          ...(hosts !== "" && { hosts }),
          ...(this.password !== "" && { password: this.password }),
        },
      },
      unattended: false,
    };
  }

  /** Runs a job. Returns null if it failed or was stopped. */
  private async ask(
    command: "source_survey" | "source_add",
    isStopped: () => boolean,
  ): Promise<ImportResult | null> {
    [this.error, this.wasStopped] = [null, false];
    this.job = new Job();
    try {
      const view = await this.job.run(
        () => call(command, this.params),
        () => {},
      );
      if (isStopped()) return null;
      if (view.failure) this.error = view.failure;
      this.wasStopped = view.is_stopped;
      return view.results?.[0] ?? null;
    } catch (cause) {
      if (!isStopped()) this.error = asAgentError(cause);
      return null;
    }
  }
}

/** The connection that is being made. It outlives its page, so that a person can look at another view meanwhile. */
export const connection = new Connection();
