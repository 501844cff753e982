import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { TransportError } from './errors.js';

/** Number of chunks to decode together. V8's garbage collector copies short strings repeatedly, but not long ones. */
const chunksAtOnce = 64;

/** http-client's own `readBody()` never settles if the body is truncated, and copies the whole body for each chunk. */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<string> {
  // Decoding in pieces saves memory: a large body is never in memory both as bytes and as text.
  const decoder = new StringDecoder('utf8');
  let text = '';
  let pending: Buffer[] = [];
  let length = 0;
  const closed = (cause?: unknown) =>
    new TransportError(`The connection closed after ${length} bytes of the body`, { cause });
  try {
    for await (const chunk of message) {
      length += chunk.length;
      if (length > maxBytes) break;
      pending.push(chunk);
      if (pending.length < chunksAtOnce) continue;
      text += decoder.write(Buffer.concat(pending));
      pending = [];
    }
  } catch (cause) {
    throw closed(cause);
  }
  const problem = `The response is larger than the maximum of ${maxBytes / 2 ** 20} MiB`;
  if (length > maxBytes) throw new TransportError(problem, { transient: false });
  if (!message.complete) throw closed();
  // Some servers begin the body with a byte order mark, which JSON.parse rejects.
  return (text + decoder.end(Buffer.concat(pending))).replace(/^\uFEFF/, '');
}
