// The rendered blocks of one answer while it grows. Not reactive: a patch reaches the one element that shows it and nothing
// else, so that its cost does not depend on the length of the answer. Knows no DOM.
import type { Block } from "../platform/generated/Block";
import type { BlockPatch } from "../platform/generated/BlockPatch";

export interface LiveBlock {
  html: string;
  /** Plain text that was added behind the HTML. */
  tail: string;
}

/** The update of a view: replace the `changed` blocks, remove all blocks from `count` on, append `append` to the last block. */
export interface BlockChange {
  changed: number[];
  count: number;
  append: string;
  /** The answer is complete: show it at once, not with the next frame. */
  complete: boolean;
}

export class BlockStream {
  readonly blocks: LiveBlock[] = [];
  private view: ((change: BlockChange) => void) | null = null;

  constructor(blocks: readonly Block[] = []) {
    this.replace(blocks);
  }

  get empty(): boolean {
    return this.blocks.length === 0;
  }

  /** Connects the element that shows the blocks. The element first gets all of them. */
  connect(view: (change: BlockChange) => void): () => void {
    this.view = view;
    view({
      changed: this.blocks.map((_, index) => index),
      count: this.blocks.length,
      append: "",
      complete: true,
    });
    return () => {
      if (this.view === view) this.view = null;
    };
  }

  apply(patch: BlockPatch, complete = false): void {
    const changed: number[] = [];
    for (const block of patch.blocks) {
      while (this.blocks.length < block.index) {
        changed.push(this.blocks.length);
        this.blocks.push({ html: "", tail: "" });
      }
      this.blocks[block.index] = { html: block.html, tail: "" };
      changed.push(block.index);
    }
    while (this.blocks.length < patch.count) {
      changed.push(this.blocks.length);
      this.blocks.push({ html: "", tail: "" });
    }
    this.blocks.length = patch.count;
    const append = patch.append ?? "";
    const last = this.blocks.at(-1);
    if (append !== "" && last) last.tail += append;
    this.view?.({
      changed: changed.filter((index) => index < patch.count),
      count: patch.count,
      append: last ? append : "",
      complete,
    });
  }

  /** Takes the finished answer: blocks that already look the same are left alone. */
  replace(blocks: readonly Block[]): void {
    const changes = blocks.filter((block) => {
      const known = this.blocks[block.index];
      return !known || known.tail !== "" || known.html !== block.html;
    });
    this.apply({ blocks: changes, count: blocks.length, append: "" }, true);
  }
}
