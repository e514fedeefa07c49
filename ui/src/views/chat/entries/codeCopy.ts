// The *Copy* button of each code block of an answer. It copies the text of the block.
import { t } from "../../../i18n/index.svelte";
import { copyText } from "../../../kit/clipboard";

const SHOWN_MS = 1500;

/** Puts each code block of a rendered block into a box with its button. The code stays last, so that text can be appended. */
export function addCopyButtons(block: Element): void {
  for (const code of block.querySelectorAll<HTMLElement>("pre.md-code")) {
    const box = document.createElement("div");
    box.className = "code-box";
    box.dataset["lang"] = code.dataset["lang"] ?? "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy-code";
    // Screen readers announce the confirmation.
    button.setAttribute("aria-live", "polite");
    button.textContent = t("common.copy");
    code.replaceWith(box);
    box.append(button, code);
  }
}

/** Copies the code whose button is or contains `target`, and confirms the copy. Does nothing for any other element. */
export async function copyCodeOf(target: Element): Promise<void> {
  const button = target.closest("button.copy-code");
  const code = button?.parentElement?.querySelector("pre");
  if (!button || !code) return;
  const done = await copyText(code.textContent);
  button.textContent = done ? t("common.copied") : t("common.copy_failed");
  setTimeout(() => (button.textContent = t("common.copy")), SHOWN_MS);
}
