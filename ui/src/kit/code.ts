// The parts of SQL and JSON that a reader sees in colours. The host colours the code of answers; this is for code that the page itself
// shows. Pure.

/** The kinds of parts, which are the classes of the host without `hl-`. A part of kind null is plain. */
export type CodeKind =
  "comment" | "string" | "number" | "constant" | "keyword" | "function" | "type";

export type CodeLanguage = "sql" | "json";

export interface CodePart {
  kind: CodeKind | null;
  text: string;
}

/** The number of characters from which code stays plain, so that a page has not too many elements. */
const MOST = 40_000;

const KEYWORDS = new Set(
  (
    "all and any as asc asof between by case cast cross cube current desc distinct else end except exclude exists extract false filter first " +
    "following for from full group grouping having ilike in inner intersect interval is join last lateral left like limit natural not null " +
    "nulls offset on or order outer over partition preceding qualify range recursive replace right rollup row rows select semi sets similar " +
    "some then to true unbounded union unnest unpivot using values when where window with within without"
  ).split(" "),
);

/** Each group is a kind of part. A quoted name is a name, and not a text. */
const PATTERNS: Record<CodeLanguage, RegExp> = {
  sql: /(?<comment>\/\*[^]*?(?:\*\/|$)|--[^\n]*)|(?<string>'(?:[^']|'')*'?|\$(?<tag>\w*)\$[^]*?\$\k<tag>\$)|(?<name>"(?:[^"]|"")*"?|`[^`]*`?)|(?<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\p{L}\p{N}_]))|(?<word>[\p{L}_][\p{L}\p{N}_$]*)/giu,
  json: /(?<type>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\]|\\.)*"?)|(?<number>-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|(?<constant>\b(?:true|false|null)\b)/giu,
};

const KINDS: readonly CodeKind[] = ["comment", "string", "number", "constant", "type"];

/** Words of the language that are functions before a bracket. */
const BOTH = new Set(["left", "replace", "right"]);

/** Returns the kind of a word of SQL. Null for a name. */
function kindOfWord(written: string, isCalled: boolean): CodeKind | null {
  const word = written.toLowerCase();
  if (KEYWORDS.has(word)) return isCalled && BOTH.has(word) ? "function" : "keyword";
  return isCalled ? "function" : null;
}

/** Returns the parts of code, which together are the code. */
export function codeParts(code: string, language: CodeLanguage | null): CodePart[] {
  if (language === null || code.length > MOST) return [{ kind: null, text: code }];
  const parts: CodePart[] = [];
  const add = (kind: CodeKind | null, text: string): void => {
    const last = parts.at(-1);
    if (text === "") return;
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  let from = 0;
  for (const match of code.matchAll(PATTERNS[language])) {
    const [text] = match;
    const groups = match.groups ?? {};
    const end = match.index + text.length;
    add(null, code.slice(from, match.index));
    const kind = KINDS.find((one) => groups[one] !== undefined) ?? null;
    add(groups["word"] === undefined ? kind : kindOfWord(text, code[end] === "("), text);
    from = end;
  }
  add(null, code.slice(from));
  return parts;
}
