const most = 20;

/** The first of a list that can be as long as somebody else likes, and how many more there are. */
export function firstOf(items: readonly string[], between = ', '): string {
  const named = items.slice(0, most).join(between);
  return items.length > most ? `${named}${between}and ${items.length - most} more` : named;
}
