import { closestMatch } from 'leven';

/** Returns ` (did you mean x?)`, or an empty string if no word is similar or `words` has only one word. */
export function didYouMean(word: string, words: readonly string[], maxErrors = Number.POSITIVE_INFINITY): string {
  const typed = word.toLowerCase().slice(0, 100);
  const begun = words.find((candidate) => typed.length > 1 && candidate.startsWith(typed));
  const maxDistance = Math.min(maxErrors, typed.length - 1, Math.max(2, Math.floor(typed.length / 3)));
  const meant = begun ?? closestMatch(typed, [...words], { maxDistance });
  return meant === undefined || words.length < 2 ? '' : ` (did you mean ${meant}?)`;
}
