// Marks found texts in the page by the CSS Custom Highlight API. Where the webview has none, the message alone is marked.
import { rangesIn } from "./find";

const NAME = "found";
/** More places than this are not marked, so that a single letter does not cost a second. */
const MOST = 2_000;

/** Whether the webview has the interface. */
const isSupported = (): boolean => typeof Highlight !== "undefined" && "highlights" in CSS;

/** Marks the text in all these elements instead of any other text. */
export function highlight(elements: Iterable<Element>, query: string): void {
  if (!isSupported()) return;
  const ranges: Range[] = [];
  for (const element of elements) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const [start, end] of rangesIn(node.nodeValue ?? "", query)) {
        if (ranges.length >= MOST) break;
        const range = new Range();
        range.setStart(node, start);
        range.setEnd(node, end);
        ranges.push(range);
      }
  }
  CSS.highlights.set(NAME, new Highlight(...ranges));
}

export function clearHighlight(): void {
  if (isSupported()) CSS.highlights.delete(NAME);
}
