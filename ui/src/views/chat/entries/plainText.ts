// The text of a rendered answer as a reader sees it: paragraphs and rows in lines of their own, cells apart, no buttons. Reads the page
// only by the few members of a node that are named here.

/** The part of a node that is read. */
export interface ReadNode {
  nodeType: number;
  nodeName: string;
  nodeValue: string | null;
  childNodes: Iterable<ReadNode>;
  /** Of elements only. */
  hidden?: unknown;
}

const TEXT = 3;
const ELEMENT = 1;
const BLOCKS = new Set(
  "P DIV PRE BLOCKQUOTE UL OL TABLE H1 H2 H3 H4 H5 H6 HR DL DT DD SECTION ARTICLE".split(" "),
);
const LINES = new Set(["LI", "TR", "BR"]);
const CELLS = new Set(["TD", "TH"]);
const LEFT_OUT = new Set(["BUTTON", "SCRIPT", "STYLE"]);

/** Returns the text of a rendered answer. */
export function plainText(root: ReadNode): string {
  const parts: string[] = [];
  read(root, false, parts);
  return parts
    .join("")
    .replaceAll(/[ \t]+(?=\n|$)/gu, "")
    .replaceAll(/\n{3,}/gu, "\n\n")
    .trim();
}

function read(node: ReadNode, isCode: boolean, parts: string[]): void {
  if (node.nodeType === TEXT) {
    const text = node.nodeValue ?? "";
    parts.push(isCode ? text : text.replaceAll(/\s+/gu, " "));
    return;
  }
  const name = node.nodeName.toUpperCase();
  if (node.nodeType !== ELEMENT || LEFT_OUT.has(name) || node.hidden === true) return;
  if (BLOCKS.has(name)) parts.push("\n\n");
  else if (LINES.has(name)) parts.push("\n");
  if (name === "LI") parts.push("- ");
  for (const child of node.childNodes) read(child, isCode || name === "PRE", parts);
  if (CELLS.has(name)) parts.push("\t");
  if (BLOCKS.has(name)) parts.push("\n\n");
}
