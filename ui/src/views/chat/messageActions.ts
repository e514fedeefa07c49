// The actions of single messages: their names, why they cannot be used now, and the models that can answer again.
import { app } from "../../app/app.svelte";
import { t, type MessageKey } from "../../i18n/index.svelte";
import type { MenuAction } from "../../kit";
import type { ModelSettings } from "../../platform/generated/ModelSettings";
import { versions, type Failure, type Refusal } from "../../state/versions.svelte";
import { modelChoices } from "./models";

const REFUSALS: Record<Refusal, MessageKey> = {
  api: "message.of_api",
  busy: "message.busy",
  approval: "message.approval_first",
};

/** Returns why no message can be changed now. */
export function whyFixed(): MessageKey | null {
  return versions.refusal && REFUSALS[versions.refusal];
}

/** Returns why no question can be asked again now. */
export function whyNotAsked(): MessageKey | null {
  return app.status?.agent_enabled === false ? "composer.off" : whyFixed();
}

/** A model that can answer a question again. `id` is its name for the host. */
export interface OtherModel {
  id: string;
  name: string;
}

/** Returns the models that can answer instead of the chosen one. A model elsewhere is not among them while the offline model is chosen,
 *  because leaving that one is confirmed by a person. */
export function otherModels(settings: ModelSettings | null): OtherModel[] {
  const others = settings ? modelChoices(settings, null).filter(({ isChosen }) => !isChosen) : [];
  return others.map(({ provider, name, place }) =>
    place === "offline" ? { id: provider, name: t("model_menu.offline") } : { id: name, name },
  );
}

/** Returns the actions that ask the question of a turn again: as it was asked, and of other models. */
export function regenerations(turn: string, at: Failure["at"]): MenuAction[] {
  const again = (name: string, model: string | null): MenuAction => ({
    name,
    ...barred(whyNotAsked()),
    run: () => void versions.regenerate(turn, at, model),
  });
  const others = otherModels(app.settings?.settings.model ?? null);
  return [
    again(t("message.regenerate"), null),
    ...others.map(({ id, name }) => again(t("message.regenerate_with", { model: name }), id)),
  ];
}

/** Returns the action that deletes a question with its answer. */
export function deletion(turn: string, at: Failure["at"]): MenuAction {
  return {
    name: t("message.delete"),
    ...barred(whyFixed()),
    run: () => void versions.remove(turn, at),
  };
}

const barred = (reason: MessageKey | null): { whyNot?: string } =>
  reason === null ? {} : { whyNot: t(reason) };
