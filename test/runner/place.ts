/** The place of an annotation in a file. 0 is none. */
export type Place = readonly [file: string, line: number, endLine: number, column: number, endColumn: number];

/** The runner drops what makes no sense. Without a file a place is one in the log. */
export function placeOf(properties: Readonly<Record<string, string>>): Place | undefined {
  const file = properties['file'];
  if (file === undefined || file.trim() === '') return undefined;
  let [endLine, endColumn] = [number(properties['endline']), number(properties['endcolumn'])];
  let line = number(properties['line']) ?? endLine;
  let column = number(properties['col']) ?? endColumn;
  if (line === undefined || (endLine !== undefined && endLine !== line)) column = endColumn = undefined;
  if (line !== undefined && endLine !== undefined && endLine < line) line = endLine = undefined;
  if (column !== undefined && endColumn !== undefined && endColumn < column) column = endColumn = undefined;
  return [file, line ?? 0, endLine ?? line ?? 0, column ?? 0, endColumn ?? column ?? 0];
}

function number(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : undefined;
}
