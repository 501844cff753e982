import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { TransportError } from './exchange.js';

/** Number of chunks to decode together. V8's garbage collector copies short strings repeatedly, but not long ones. */
const chunksAtOnce = 64;

/** http-client's own `readBody()` never settles if the body is truncated, and copies the whole body for each chunk. */
export function readBody(message: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // Decoding in pieces saves memory: a large body is never in memory both as bytes and as text.
    const decoder = new StringDecoder('utf8');
    let text = '';
    let pending: Buffer[] = [];
    let length = 0;
    let isRead = false;
    const decode = () => {
      text += decoder.write(Buffer.concat(pending));
      pending = [];
    };
    const fail = (cause?: Error) => {
      if (isRead) return;
      reject(new TransportError(`The connection closed after ${length} bytes of the body`, { cause }));
    };
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      pending.push(chunk);
      if (pending.length === chunksAtOnce) decode();
      if (length <= maxBytes) return;
      const problem = `The response is larger than the maximum of ${maxBytes / 2 ** 20} MiB`;
      reject(new TransportError(problem, { transient: false }));
      message.destroy();
    });
    message.on('end', () => {
      if (!message.complete) return fail();
      isRead = true;
      decode();
      // Some servers begin the body with a byte order mark, which JSON.parse rejects.
      resolve((text + decoder.end()).replace(/^\uFEFF/, ''));
    });
    message.on('aborted', fail);
    message.on('error', fail);
    message.on('close', fail);
  });
}
