/** Replaces secrets, each of their lines too. The real runner also replaces encoded forms of them: here, a test sees those. */
export class Masker {
  readonly #texts = new Set<string>();

  add(value: string): void {
    for (const text of [value, ...value.split(/[\r\n]+/).map((line) => line.trim())])
      if (text !== '') this.#texts.add(text);
  }

  mask(text: string): string {
    const longestFirst = [...this.#texts].sort((one, other) => other.length - one.length);
    return longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  }
}
