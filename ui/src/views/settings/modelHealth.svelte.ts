// Whether the model in use answered when it was asked last. The one source of this for all sections: a test of the connection and the
// diagnostics both tell it here. Asks no model itself.
import { named, worded } from "../../i18n/host";
import { app } from "../../app/app.svelte";
import type { DoctorResponse } from "../../platform/generated/DoctorResponse";
import type { ModelTestResponse } from "../../platform/generated/ModelTestResponse";
import { problemText } from "./problem";

export type Answering = "answers" | "fails" | "unknown";

/** The name that the host gives the check of the model. */
const CHECK = "model";

class ModelHealth {
  /** The model that was asked. */
  private asked = $state("");
  private answered = $state(false);
  /** The faults in words; empty if there are none. */
  private said = $state("");

  /** The name of the model in use. */
  label = $derived(app.status ? named(app.status.model_label) : "");
  /** A finding about another model says nothing about this one. */
  private isOfThis = $derived(this.asked !== "" && this.asked === this.label);
  state = $derived<Answering>(this.isOfThis ? (this.answered ? "answers" : "fails") : "unknown");
  problem = $derived(this.state === "fails" ? this.said : "");

  /** Takes the result of a test of the connection. */
  tested(result: ModelTestResponse, model: string): void {
    this.take(result.ok, result.ok ? "" : problemText(result, model));
  }

  /** Takes what the diagnostics found about the model. */
  diagnosed({ checks }: DoctorResponse): void {
    const check = checks.find(({ name }) => name === CHECK);
    if (!check) return;
    const words = [check.message, check.hint ?? null].flatMap((text) =>
      text === null ? [] : [worded(text)],
    );
    this.take(check.state === "ok", check.state === "ok" ? "" : words.join(" "));
  }

  private take(answered: boolean, said: string): void {
    this.asked = this.label;
    this.answered = answered;
    this.said = said;
  }
}

export const modelHealth = new ModelHealth();
