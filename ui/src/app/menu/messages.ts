// The commands of the message that an element of the conversation belongs to.
import { chat } from "../../state/chat.svelte";
import { versions, type Failure } from "../../state/versions.svelte";
import { lastTexts } from "../../views/chat/entries/order";
import { plainText } from "../../views/chat/entries/plainText";
import { whyFixed, whyNotAsked } from "../../views/chat/messageActions";
import { copyItem, type MenuItem } from "./items";

/** Returns what is selected inside an element; empty if the selection is or reaches elsewhere. */
function selectedIn(place: Element): string {
  const selection = getSelection();
  const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
  return selection && range && place.contains(range.commonAncestorContainer)
    ? selection.toString().trim()
    : "";
}

/** Returns a command that is done at once. It is disabled if there is a reason. */
function itemOf(
  name: MenuItem["name"],
  reason: MenuItem["name"] | null,
  run: () => void,
): MenuItem {
  return {
    name,
    ...(reason && { isDisabled: true, reason }),
    run: () => {
      run();
      return Promise.resolve(true);
    },
  };
}

/** Returns the commands that change a message: those of its question, or those of the whole answer. */
function changes(turn: string, at: Failure["at"]): MenuItem[] {
  const edit = itemOf("message.edit", whyNotAsked(), () => versions.edit(turn));
  return [
    ...(at === "question" ? [edit] : []),
    itemOf("message.regenerate", whyNotAsked(), () => void versions.regenerate(turn, at, null)),
    itemOf("message.delete", whyFixed(), () => void versions.remove(turn, at)),
  ];
}

/** Returns the commands of the message that an element belongs to; none outside messages. An answer is quoted as far as it is selected,
 *  or whole. */
export function messageItems(target: Element): MenuItem[] {
  const place = target.closest<HTMLElement>("[data-key]");
  const entries = chat.open?.entries ?? [];
  const entry = entries.find(({ key }) => key === place?.dataset["key"]);
  if ((entry?.kind !== "user" && entry?.kind !== "assistant") || entry.text === "") return [];
  const items = [copyItem("menu.copy_message", entry.text)];
  const prose = place?.querySelector(".prose");
  if (entry.kind === "assistant" && prose) {
    const quoted = selectedIn(prose) || plainText(prose);
    items.push(itemOf("chat.quote", null, () => chat.quote(quoted)));
  }
  if (entry.kind === "user") items.push(...changes(entry.turn, "question"));
  else if (lastTexts(entries).has(entry.key)) items.push(...changes(entry.turn, "answer"));
  return items;
}
