import { closestMatch } from 'leven';

/** Returns the word that the user probably meant, or undefined if no word is similar enough. */
export function nearest(
  word: string,
  words: readonly string[],
  maxErrors = Number.POSITIVE_INFINITY,
): string | undefined {
  const typed = word.toLowerCase().slice(0, 100);
  const begun = words.find((candidate) => typed.length > 1 && candidate.startsWith(typed));
  const maxDistance = Math.min(maxErrors, typed.length - 1, Math.max(2, Math.floor(typed.length / 3)));
  return begun ?? closestMatch(typed, [...words], { maxDistance });
}

/** Returns ` (did you mean x?)`, or an empty string if no word is similar or `words` has only one word. */
export function didYouMean(word: string, words: readonly string[], maxErrors?: number): string {
  const meant = words.length > 1 ? nearest(word, words, maxErrors) : undefined;
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}
