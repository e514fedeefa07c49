// Keeps a scrolling list at its end while text arrives, and never against the user's will. Every scroll event is judged by
// the position it reports against the one we wrote last; no timers. Pure: it is given measures and says where to scroll.
export interface Measures {
  top: number;
  height: number;
  viewport: number;
}

/** Closer to the end than this counts as at the end. */
const NEAR = 48;

export class StickToBottom {
  /** New content is followed. */
  stuck = true;
  private last = 0;
  private height = 0;

  /** The list scrolled, by us or by the user. */
  scrolled({ top, height, viewport }: Measures): void {
    const distance = height - viewport - top;
    if (distance <= NEAR && top >= this.last - 1) this.stuck = true;
    else if (top < this.last - 1 && !(this.stuck && height < this.height)) {
      // Upwards. Only content that shrank moves the position too: then the list is still at its end, or the resize that follows
      // goes back to it. Content that grew never does: that was the user, however much text came in the same frame.
      this.stuck = distance <= 1;
    }
    this.last = top;
    this.height = height;
  }

  /** The user scrolls upwards (wheel, keys). Called before the list moves, so that text that arrives meanwhile does not scroll it down. */
  upwards({ height, viewport }: Measures): void {
    if (height > viewport + 1) this.stuck = false;
  }

  /** Content or window changed size; returns the position to scroll to, or null to stay. */
  resized({ top, height, viewport }: Measures): number | null {
    this.height = height;
    if (!this.stuck) {
      this.last = top;
      return null;
    }
    const end = Math.max(0, height - viewport);
    this.last = end;
    return Math.abs(end - top) < 1 ? null : end;
  }

  /** Returns the position that keeps the visible content in place after older content of `shift` pixels was inserted above. */
  pushed(top: number, shift: number): number {
    this.last = top + shift;
    return this.last;
  }

  /** The user asked for the end. */
  follow(): void {
    this.stuck = true;
  }
}
