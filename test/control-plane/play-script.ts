import type { ServerResponse } from 'node:http';
import type { Clock } from './clock.js';
import type { Reception } from './exchanges.js';
import type { CutBy } from './faults.js';
import type { WireStep } from './wire-script.js';

/** What a script needs of the connection that no response can do. */
export interface Connection {
  cut(by: CutBy): void;
  closeOnNextRequest(): void;
}

/** Plays the steps on a socket, one after the other, until the end or until the socket is gone. */
export function playScript(
  { script, headSent, over }: Reception,
  response: ServerResponse,
  clock: Clock,
  connection: Connection,
): void {
  let cancelWait = () => {};

  const playFrom = (index: number): void => {
    const current = script[index];
    if (current && !response.destroyed) play(current, () => playFrom(index + 1));
  };

  const play = (current: WireStep, next: () => void): void => {
    switch (current.step) {
      case 'wait':
        cancelWait = clock.schedule(current.ms, next);
        break;
      case 'answer':
        if (current.closeOnNextRequest) connection.closeOnNextRequest();
        headSent(current.answer.status);
        response.writeHead(current.answer.status, current.answer.headers).end(current.answer.body);
        break;
      case 'head':
        headSent(current.status);
        response.writeHead(current.status, current.headers).flushHeaders();
        next();
        break;
      case 'send':
        // Goes on when the text has left, because a cut would throw away what is still in a buffer.
        if (current.text === '') next();
        else response.write(current.text, (error) => error ?? next());
        break;
      case 'end':
        response.end();
        break;
      case 'flood':
        flood(response, current.text);
        break;
      case 'hang':
        break;
      case 'cut':
        connection.cut(current.by);
        break;
    }
  };

  response.on('finish', over);
  response.on('close', () => {
    cancelWait();
    over();
  });
  playFrom(0);
}

function flood(response: ServerResponse, text: string): void {
  while (!response.destroyed && response.write(text)) {
    // Until the buffer is full.
  }
  response.once('drain', () => flood(response, text));
}
