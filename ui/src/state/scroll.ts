// Decides where a conversation is scrolled to. A question that was just sent is held at the top of the viewport while its
// answer grows below. The end is followed only after the reader has gone there. Every scroll event is compared with the
// position written last; there are no timers. Pure: it gets measures and returns positions.
export interface Measures {
  top: number;
  height: number;
  viewport: number;
  /** The height of the empty space below the content, a part of `height`. */
  space?: number;
}

/** The top and bottom of a question in the content. */
export interface Place {
  top: number;
  bottom: number;
}

/** `end`: new content is followed. `question`: the question stays at the top. `free`: the reader is elsewhere. */
export type ScrollMode = "end" | "question" | "free";

/** A scroll position within this many pixels of the end is treated as the end. */
const NEAR = 48;
/** The space that is left above a question. */
const ABOVE = 16;

/** Returns the position that shows a question at the top. At most the upper half of the viewport goes to a long question. */
export function questionPosition({ top, bottom }: Place, viewport: number): number {
  return Math.max(0, top - ABOVE, bottom - viewport / 2);
}

/** Returns the height of the empty space that lets a position be reached; 0 if the content below it fills the viewport. */
export function spaceBelow(position: number, contentEnd: number, viewport: number): number {
  return Math.max(0, Math.ceil(position + viewport - contentEnd));
}

export class ScrollPosition {
  mode: ScrollMode = "end";
  private last = 0;
  private height = 0;

  /** Whether new content is followed. */
  get stuck(): boolean {
    return this.mode === "end";
  }

  /** Called when the list scrolled, by us or by the user. */
  scrolled(now: Measures): void {
    const distance = now.height - now.viewport - now.top;
    const moved = now.top - this.last;
    if (moved < -1) this.movedUp(now, distance);
    else if (distance > NEAR) {
      if (this.mode === "question" && moved > 1) this.mode = "free";
    } else if (this.mode === "free") this.mode = atEnd(now);
    else if (this.mode === "question" && moved > 1) this.mode = atEnd(now);
    this.last = now.top;
    this.height = now.height;
  }

  private movedUp({ height, space }: Measures, distance: number): void {
    // When content shrinks, the browser clamps the scroll position, and the resize event that follows restores it. Growing content
    // never moves the position, so any other upward move came from the user.
    if (this.mode !== "free" && height < this.height) return;
    if (distance > 1) this.mode = "free";
    else if (this.mode === "free") this.mode = atEnd({ space });
  }

  /** Called when the user scrolls upwards, before the list moves, so that text that arrives meanwhile does not scroll the list down. */
  upwards({ height, viewport }: Measures): void {
    if (height > viewport + 1) this.mode = "free";
  }

  /** Called when content or window changed size. Returns the position to scroll to, or null. `question` is the position of the held
   * question. */
  resized({ top, height, viewport }: Measures, question: number | null = null): number | null {
    this.height = height;
    const end = Math.max(0, height - viewport);
    const to =
      this.mode === "end"
        ? end
        : this.mode === "question" && question !== null
          ? Math.min(question, end)
          : top;
    this.last = to;
    return Math.abs(to - top) < 1 ? null : to;
  }

  /** Returns the position that keeps the visible content in place after older content of `shift` pixels was inserted above. */
  pushed(top: number, shift: number): number {
    this.last = top + shift;
    return this.last;
  }

  /** Called when the user asked for a certain place. */
  show(top: number): void {
    this.mode = "free";
    this.last = top;
  }

  /** Called when the user asked for the end. */
  follow(): void {
    this.mode = "end";
  }

  /** Called when a question was sent. The question goes to the top and stays there. */
  hold(): void {
    this.mode = "question";
  }

  /** Whether content below the viewport is out of sight and not followed. */
  isAway({ top, height, viewport, space = 0 }: Measures): boolean {
    return this.mode !== "end" && height - space - viewport - top > NEAR;
  }
}

/** Returns the mode at the end of a list. If the list ends with empty space, the question is at the top and no content is below it. */
function atEnd({ space = 0 }: Pick<Measures, "space">): ScrollMode {
  return space > 0 ? "question" : "end";
}
