// Texts of a pending action. Pure.

/** Characters that would not be seen, or that change the order of what is seen, written as their code. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u115f\u1160\u3164\uffa0]/gu,
    (char) => `⟦U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟧`,
  );
}

/** Minutes and seconds of a span. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
