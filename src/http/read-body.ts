import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { Broken } from './exchange.js';

/** Chunks per decoding. V8 keeps long strings apart from short-lived ones, which its garbage collector copies again. */
const chunksAtOnce = 64;

/** http-client's own `readBody()` never settles if the body is truncated, and copies the whole body for every chunk. */
export function readBody(message: IncomingMessage, mostBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // Decoding in pieces avoids a copy of all bytes beside the text of a large body.
    const decoder = new StringDecoder('utf8');
    let text = '';
    let pending: Buffer[] = [];
    let length = 0;
    let isRead = false;
    const decode = () => {
      text += decoder.write(Buffer.concat(pending));
      pending = [];
    };
    const cut = (cause?: Error) => {
      if (isRead) return;
      reject(new Broken(`The connection was cut after ${length} bytes of the body`, { cause }));
    };
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      pending.push(chunk);
      if (pending.length === chunksAtOnce) decode();
      if (length <= mostBytes) return;
      reject(new Broken(`The body is larger than ${mostBytes / 2 ** 20} MiB and was refused`, { transient: false }));
      message.destroy();
    });
    message.on('end', () => {
      if (!message.complete) return cut();
      isRead = true;
      decode();
      resolve(withoutMark(text + decoder.end()));
    });
    message.on('aborted', cut);
    message.on('error', cut);
    message.on('close', cut);
  });
}

/** Some servers begin the body with a byte order mark. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
