// Texts of a pending action. Pure.
import { pieces } from "../../../approval/hidden";

/** Characters that would not be seen, or that change the order of what is seen, written as their code. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => (piece.code ? `⟦${piece.code}⟧` : piece.text))
    .join("");
}

/** Minutes and seconds of a span. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
