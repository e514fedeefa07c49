// Texts of a pending action. Pure.
import { pieces } from "../../../approval/hidden";

/** Writes invisible characters, and characters that reorder text, as their codes. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => (piece.code ? `⟦${piece.code}⟧` : piece.text))
    .join("");
}

/** Formats a duration as minutes and seconds. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
