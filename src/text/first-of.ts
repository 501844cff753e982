interface Bounds {
  readonly most: number;
  readonly between: string;
}

export const stories: Bounds = { most: 5, between: '; ' };

/** Names the first items and counts the rest. The length of such a list is up to the service or the user. */
export function firstOf(items: readonly string[], { most = 20, between = ', ' }: Partial<Bounds> = {}): string {
  const named = items.slice(0, most).join(between);
  return items.length > most ? `${named}${between}and ${items.length - most} more` : named;
}
