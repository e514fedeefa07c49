// Copies text, also where the asynchronous clipboard is refused (a webview without focus, or an
// insecure origin).
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    document.body.append(area);
    area.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way where the clipboard is denied
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
