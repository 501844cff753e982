/** The parts of a state as main saved it: the seal, then the object that it covers. */
export function readSaved(saved: string) {
  const at = saved.indexOf('{');
  const object: Readonly<Record<string, unknown>> = JSON.parse(saved.slice(at));
  return { seal: saved.slice(0, at), object };
}

/** The state with other parts, as somebody without the parent key would write it. `undefined` removes a part. */
export function forged(saved: string, parts: Readonly<Record<string, unknown>>): string {
  const { seal, object } = readSaved(saved);
  return seal + JSON.stringify({ ...object, ...parts });
}
