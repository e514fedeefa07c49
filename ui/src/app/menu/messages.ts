// The commands of the message that an element of the conversation belongs to.
import { chat } from "../../state/chat.svelte";
import { plainText } from "../../views/chat/entries/plainText";
import { copyItem, type MenuItem } from "./items";

/** Returns what is selected inside an element; empty if the selection is or reaches elsewhere. */
function selectedIn(place: Element): string {
  const selection = getSelection();
  const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
  return selection && range && place.contains(range.commonAncestorContainer)
    ? selection.toString().trim()
    : "";
}

/** Returns the commands of the message that an element belongs to; none outside messages. An answer is quoted as far as it is selected,
 *  or whole. */
export function messageItems(target: Element): MenuItem[] {
  const place = target.closest<HTMLElement>("[data-key]");
  const entry = chat.open?.entries.find(({ key }) => key === place?.dataset["key"]);
  if ((entry?.kind !== "user" && entry?.kind !== "assistant") || entry.text === "") return [];
  const items = [copyItem("menu.copy_message", entry.text)];
  const prose = place?.querySelector(".prose");
  if (entry.kind === "assistant" && prose) {
    const quoted = selectedIn(prose) || plainText(prose);
    items.push({
      name: "chat.quote",
      run: () => {
        chat.quote(quoted);
        return Promise.resolve(true);
      },
    });
  }
  return items;
}
