// Writes changed blocks into the page, at most once per frame. Appended text goes into the last
// text node of the last block.
import type { BlockChange, BlockStream } from "../../../state/blocks";
import { addCopyButtons } from "./codeCopy";

export class BlockPainter {
  private readonly dirty = new Set<number>();
  private appended: string[] = [];
  private frame = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly stream: BlockStream,
    /** Runs after each change of the page. */
    private readonly painted: () => void,
  ) {}

  take(change: BlockChange): void {
    for (const index of change.changed) this.dirty.add(index);
    // If a block is written again, it already contains the appended text.
    if (change.append !== "" && !this.dirty.has(change.count - 1))
      this.appended.push(change.append);
    if (change.complete) this.flush();
    else if (this.frame === 0) this.frame = requestAnimationFrame(() => this.flush());
  }

  /** Brings the page up to date now. */
  flush(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { blocks } = this.stream;
    while (this.root.childElementCount > blocks.length) this.root.lastElementChild!.remove();
    const known = this.root.childElementCount;
    const last = blocks.length - 1;
    if (this.appended.length > 0 && last === known - 1 && !this.dirty.has(last)) {
      appendText(this.root.children[last]!, this.appended.join(""));
    } else if (this.appended.length > 0 && last >= 0) {
      // Text was appended and a block followed in the same frame, so the block with the text is
      // written again.
      for (let index = Math.max(0, known - 1); index <= last; index++) this.dirty.add(index);
    }
    this.appended = [];
    for (const index of [...this.dirty].sort((a, b) => a - b)) {
      const block = blocks[index];
      if (block) this.put(index, block.html, block.tail);
    }
    this.dirty.clear();
    this.painted();
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
  }

  private put(index: number, html: string, tail: string): void {
    while (this.root.childElementCount <= index) {
      const element = document.createElement("div");
      element.className = "block";
      // A block has the direction of its own script.
      element.dir = "auto";
      this.root.append(element);
    }
    const element = this.root.children[index]!;
    element.innerHTML = html;
    addCopyButtons(element);
    if (tail !== "") appendText(element, tail);
  }
}

function appendText(element: Element, text: string): void {
  let node: Node = element;
  while (node.lastChild) {
    // Text must not go into the line breaks between tags.
    let child: Node = node.lastChild;
    while (
      child.nodeType === Node.TEXT_NODE &&
      child.previousSibling &&
      (child as Text).data.trim() === ""
    )
      child = child.previousSibling;
    node = child;
  }
  if (node.nodeType === Node.TEXT_NODE) (node as Text).appendData(text);
  else node.appendChild(document.createTextNode(text));
}
