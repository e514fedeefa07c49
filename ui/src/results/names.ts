// Names of definitions and columns as a reader writes them. Pure, and knows no result.

/** A short word without a vowel is an abbreviation, such as the cost per click. */
const ABBREVIATION = /^[bcdfghjklmnpqrstvwxz]{3,4}$/;

/** Returns the name of a definition as a reader writes it. */
export function plainName(name: string): string {
  const words = name.replace(/[_\s]+/g, " ").trim();
  const written = words.replace(/\S+/g, (word) =>
    ABBREVIATION.test(word) ? word.toUpperCase() : word,
  );
  return written.charAt(0).toUpperCase() + written.slice(1);
}

/** Returns a name as it is written within a sentence. An abbreviation keeps its letters. */
export function inSentence(name: string): string {
  const isAbbreviation = /^\p{Lu}[\p{Lu}\d]/u.test(name);
  return isAbbreviation ? name : name.charAt(0).toLowerCase() + name.slice(1);
}
