// The content of drawn results. An answer that shows the same again is shortened.

/** The content of a drawn result: its rows as names, or as amounts for rows without a name, and its single figures. */
export interface ShownRows {
  names: string[];
  amounts: number[];
  /** Digits of the figures, rounded as an answer may round them. */
  figures: Set<string>;
}
