// The newest section of CHANGELOG.md. Pure.

/** A piece of a line: plain text, or words that stand out. */
export interface Piece {
  text: string;
  kind: "plain" | "code" | "strong";
}

export interface ChangeGroup {
  name: string;
  lines: Piece[][];
}

export interface Changes {
  /** The heading, such as "0.1.0 – 2026-11-23". */
  name: string;
  groups: ChangeGroup[];
}

/** Splits a line of Markdown. Links become their text. */
export function piecesOf(line: string): Piece[] {
  const plain = line.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return plain
    .split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/)
    .filter(Boolean)
    .map((text): Piece => {
      if (text.length > 2 && text.startsWith("`")) return { text: text.slice(1, -1), kind: "code" };
      if (text.length > 2 && /^\*.*\*$/s.test(text))
        return { text: text.replace(/^\*+|\*+$/g, ""), kind: "strong" };
      return { text, kind: "plain" };
    });
}

/** Returns the first section that has lines; null if there is none. */
export function newestChanges(changelog: string): Changes | null {
  for (const section of changelog.split(/^## /m).slice(1)) {
    const [name = "", ...rest] = section.split("\n");
    const groups = rest
      .join("\n")
      .split(/^### /m)
      .map((group) => {
        const [heading = "", ...lines] = group.split("\n");
        return { name: heading.trim(), lines: itemsOf(lines).map(piecesOf) };
      })
      .filter(({ lines }) => lines.length > 0);
    if (groups.length > 0) return { name: name.trim(), groups };
  }
  return null;
}

/** Returns the items of a list. A line that begins no item belongs to the one before it. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines.map((line) => line.trim())) {
    if (line.startsWith("- ")) items.push(line.slice(2));
    else if (line !== "" && items.length > 0) items.push(`${items.pop() ?? ""} ${line}`);
  }
  return items;
}
