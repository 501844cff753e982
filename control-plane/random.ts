/** A number from 0 up to, not including, 1. */
export type Random = () => number;

/** mulberry32: small, quick, and the same on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function integerBelow(random: Random, end: number): number {
  return Math.floor(random() * end);
}

export function pick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[integerBelow(random, choices.length)] ?? choices[0];
}

export function characters(random: Random, alphabet: string, length: number): string {
  let text = '';
  while (text.length < length) text += alphabet.charAt(integerBelow(random, alphabet.length));
  return text;
}

export function uuid(random: Random): string {
  const hex = characters(random, '0123456789abcdef', 30);
  const variant = characters(random, '89ab', 1);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-${variant}${hex.slice(15, 18)}-${hex.slice(18)}`;
}
