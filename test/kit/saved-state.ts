/** A state as main saved it: the seal, then the object that it covers. */
export interface SavedState {
  readonly seal: string;
  readonly object: Readonly<Record<string, unknown>>;
}

export function readSaved(saved: string): SavedState {
  const at = saved.indexOf('{');
  return { seal: saved.slice(0, at), object: JSON.parse(saved.slice(at)) as SavedState['object'] };
}

/** The state with other parts, as somebody without the parent key would write it. `undefined` removes a part. */
export function forged(saved: string, parts: SavedState['object']): string {
  const { seal, object } = readSaved(saved);
  return seal + JSON.stringify({ ...object, ...parts });
}
