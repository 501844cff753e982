import type { Fault } from '../control-plane/index.js';
import { keyToCome } from './services.js';

const { id, key } = keyToCome();
const answer = (status: number, body: string): Fault => ({ kind: 'status', status, body, done: 'now' });

/** A key was made, and the answer that holds it is of no use. */
export const unusable: Readonly<Record<string, Fault>> = {
  '200, the key within another object': answer(200, `{"api_key":{"id":${id},"key":"${key}"}}`),
  '200, an id that is none': answer(200, `{"id":"${key}","key":"${key}"}`),
  '200, no key': answer(200, `{"id":${id},"secret":"${key}"}`),
  '500, with the key': answer(500, `{"id":${id},"key":"${key}","message":"not told to all"}`),
  '500, with the beginning of the key': answer(500, `{"id":${id},"key":"${key.slice(0, 40)}"}`),
};
