interface Bounds {
  readonly most: number;
  readonly between: string;
}

export const stories: Bounds = { most: 5, between: '; ' };

/** The first of a list that can be as long as somebody else likes, and how many more there are. */
export function firstOf(items: readonly string[], { most = 20, between = ', ' }: Partial<Bounds> = {}): string {
  const named = items.slice(0, most).join(between);
  return items.length > most ? `${named}${between}and ${items.length - most} more` : named;
}
