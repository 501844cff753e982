/** Endless pauses in milliseconds. The longest is `first`, and doubles up to `most`. Each is shorter by up to half, at random. */
export function* doublingPauses({ first, most }: { first: number; most: number }, random: () => number) {
  for (let longest = first; ; longest = Math.min(most, 2 * longest)) yield longest * (0.5 + random() / 2);
}
