// Copies text, also where the asynchronous clipboard is refused (a webview without focus, or an
// insecure origin).
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    document.body.append(area);
    area.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way where the clipboard is denied
    const done = document.execCommand("copy");
    area.remove();
    // The selection took the focus. A person with a keyboard goes on where they were.
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    return done;
  }
}

/** Copies a text that is still being made. The clipboard takes the promise now, because it refuses a text that comes long after the click. */
export async function copyLater(text: Promise<string>): Promise<boolean> {
  if (typeof ClipboardItem !== "undefined")
    try {
      const item = text.then((made) => new Blob([made], { type: "text/plain" }));
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": item })]);
      return true;
    } catch {
      // The older way below may still be allowed.
    }
  return copyText(await text);
}
