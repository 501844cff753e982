/**
 * Compiles a pattern: `*` stands for any text, `?` for one character. A position is how many signs of the pattern the text so
 * far has matched. All positions that are possible are bits of one number, so each character takes the same short time. A
 * search that backtracks compared each character with up to 256 others, and a name of 5 MB held a step for 12 s.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const signs = [...pattern.replaceAll('*', '')];
  const positionsAfter = (...accepted: string[]) =>
    signs.reduce((bits, sign, index) => (accepted.includes(sign) ? bits | (1n << BigInt(index + 1)) : bits), 0n);
  const afterOther = positionsAfter('?');
  const afterSign = new Map(signs.map((sign) => [sign, positionsAfter('?', sign)]));
  const end = 1n << BigInt(signs.length);
  let kept = 0n;
  let position = 1n;
  for (const sign of pattern)
    if (sign === '*') kept |= position;
    else position <<= 1n;
  return (text) => {
    let reached = 1n;
    for (const character of text)
      reached = ((reached << 1n) & (afterSign.get(character) ?? afterOther)) | (reached & kept);
    return (reached & end) !== 0n;
  };
}
