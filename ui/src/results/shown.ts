// The content of drawn results. An answer that shows the same again is shortened.

/** The content of a drawn result: the names of its rows. */
export interface ShownRows {
  names: string[];
}
