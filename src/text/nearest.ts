import { closestMatch } from 'leven';

/** The word that the user probably meant, if one is similar enough. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const typed = word.toLowerCase().slice(0, 100);
  const begun = words.find((candidate) => typed.length > 1 && candidate.startsWith(typed));
  return (
    begun ??
    closestMatch(typed, [...words], {
      maxDistance: Math.min(typed.length - 1, Math.max(2, Math.floor(typed.length / 3))),
    })
  );
}
