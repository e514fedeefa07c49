// Copying where the clipboard of the webview is refused: the text is selected in the page, and the focus then returns.
import { afterEach, expect, test, vi } from "vitest";
import { copyText } from "./clipboard";

afterEach(() => vi.unstubAllGlobals());

test("a copy by selection gives the focus back", async () => {
  class Element {
    value = "";
    focus = vi.fn();
    remove = vi.fn();
    select(): void {
      page.activeElement = this;
    }
  }
  const grid = new Element();
  const page = {
    activeElement: grid,
    body: { append: () => {} },
    createElement: () => new Element(),
    execCommand: () => true,
  };
  vi.stubGlobal("HTMLElement", Element);
  vi.stubGlobal("document", page);
  vi.stubGlobal("navigator", { clipboard: { writeText: () => Promise.reject(new Error("no")) } });
  expect(await copyText("a")).toBe(true);
  expect(grid.focus).toHaveBeenCalledOnce();
});
