/** A value of the job message that may hold expressions. */
export type Token =
  | string
  | { readonly type: 3; readonly expr: string }
  | { readonly type: 2; readonly map: readonly { readonly Key: Token; readonly Value: Token }[] };

/** As the service compiles a text of a workflow: `v${{ a }}` becomes `format('v{0}', a)`. */
export function tokenOf(text: string): Token {
  // Every second part is what stands in `${{ }}`.
  const parts = text.split(/\$\{\{(.*?)\}\}/s);
  const expressions = parts.filter((_, index) => index % 2 === 1).map((part) => part.trim());
  const [first] = expressions;
  if (first === undefined) return text;
  if (parts.length === 3 && parts[0] === '' && parts[2] === '') return { type: 3, expr: first };
  const format = parts.map((part, index) => (index % 2 === 1 ? `{${(index - 1) / 2}}` : literal(part))).join('');
  return { type: 3, expr: `format('${format}', ${expressions.join(', ')})` };
}

export function mappingOf(values: Readonly<Record<string, string>>): Token {
  return { type: 2, map: Object.entries(values).map(([Key, value]) => ({ Key, Value: tokenOf(value) })) };
}

function literal(text: string): string {
  return text.replaceAll("'", "''").replaceAll('{', '{{').replaceAll('}', '}}');
}
