// SQL in lines for a person: each clause and each selected column begins a line, and a query in brackets is indented. Only white space
// outside of texts, names and comments changes. SQL that is not surely understood stays as it is. Pure.

/** The clauses that begin a line. A place matches if it begins with one of them. */
const CLAUSE =
  /(?:SELECT|FROM|WHERE|GROUP\s+BY|HAVING|QUALIFY|ORDER\s+BY|LIMIT|UNION(?:\s+ALL)?|INTERSECT|EXCEPT|(?:(?:ASOF|NATURAL|LEFT|RIGHT|FULL|INNER|CROSS)\s+(?:OUTER\s+)?)?JOIN)(?![\p{L}\p{N}_$(.])/iuy;
/** A text, a quoted name, a comment, or a text between dollars, as a whole. */
const QUOTED =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\/\*[^]*?\*\/|--[^\n]*\n?|\$(\w*)\$[^]*?\$\1\$/y;
const WORD = /[\p{L}\p{N}_$]+/uy;
const SPACE = /\s+/y;
const QUERY = /\s*(?:SELECT|WITH)\b/iy;
const STEP = "  ";

/** Returns what a sticky pattern finds at a place; "" for nothing. */
function foundAt(pattern: RegExp, sql: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0] ?? "";
}

/** The lines that are being written. */
class Lines {
  text = "";
  /** For each open bracket, whether it holds a query. */
  readonly brackets: boolean[] = [];
  /** The last clause of the query at each depth of queries; "" before the first one. */
  readonly clauses: string[] = [""];

  /** Whether the place is in a query itself, and not in a function or an expression. */
  get isInQuery(): boolean {
    return this.brackets.at(-1) ?? true;
  }

  add(part: string): void {
    this.text += part;
  }

  /** Begins a line, unless it is the first one. */
  break(more = 0): void {
    this.text = this.text.replace(/[ \n]+$/, "");
    if (this.text !== "") this.text += `\n${STEP.repeat(this.clauses.length - 1 + more)}`;
  }

  clause(words: string): void {
    const name = words.toUpperCase();
    // In `IS DISTINCT FROM`, the word begins no clause.
    if (!(name === "FROM" && /\bDISTINCT\s*$/i.test(this.text))) {
      this.break();
      this.clauses[this.clauses.length - 1] = name;
    }
    this.add(words.replace(/\s+/g, " "));
  }

  comma(): void {
    this.add(",");
    const clause = this.clauses.at(-1);
    if (this.isInQuery && clause === "SELECT") this.break(1);
    // Steps that are named before the query.
    else if (this.isInQuery && clause === "") this.break();
  }

  open(isQuery: boolean): void {
    this.add("(");
    this.brackets.push(isQuery);
    if (!isQuery) return;
    this.clauses.push("");
    this.break();
  }

  close(): void {
    if (this.brackets.pop() === true) {
      this.clauses.pop();
      this.break();
    }
    this.add(")");
  }
}

/** Adds what stands at a place. Returns the place after it. */
function step(lines: Lines, sql: string, at: number): number {
  const sign = sql[at]!;
  const quoted = foundAt(QUOTED, sql, at);
  const space = foundAt(SPACE, sql, at);
  const isWord = sql[at - 1] !== "." && lines.isInQuery;
  const clause = isWord ? foundAt(CLAUSE, sql, at) : "";
  if (quoted !== "") lines.add(quoted);
  else if (space !== "") {
    if (!/(?:^|[\s(])$/.test(lines.text)) lines.add(" ");
  } else if (clause !== "") lines.clause(clause);
  else if (sign === "(") lines.open(foundAt(QUERY, sql, at + 1) !== "");
  else if (sign === ")") lines.close();
  else if (sign === ",") lines.comma();
  else lines.add(foundAt(WORD, sql, at) || sign);
  return at + (quoted || space || clause || foundAt(WORD, sql, at) || sign).length;
}

/** Returns the SQL in lines. */
export function sqlText(sql: string): string {
  // Some databases read a sign after a backslash as a part of a text.
  if (sql.includes("\\")) return sql;
  const lines = new Lines();
  for (let at = 0; at < sql.length;) at = step(lines, sql, at);
  const isWhole = lines.brackets.length === 0 && bare(lines.text) === bare(sql);
  return isWhole ? lines.text.trim() : sql;
}

/** Returns a query that a model wrote as it is shown: SQL in lines, or the members of a metric query. */
export function writtenQuery(query: string): { value: unknown; language: "sql" | "json" } {
  if (query.startsWith("{"))
    try {
      return { value: JSON.parse(query), language: "json" };
    } catch {
      // It is shown as it is written.
    }
  return { value: sqlText(query), language: "sql" };
}

/** Returns the SQL without white space. */
const bare = (sql: string): string => sql.replace(/\s+/g, "");
