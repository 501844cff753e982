import type { CutBy, Fault, Framing } from './faults.js';
import type { PlaneAnswer } from './plane.js';

/** A step of what the client sees on its connection. The owner of the connection carries it out. */
export type WireStep =
  | { readonly step: 'wait'; readonly ms: number }
  /** A whole response with its end. */
  | { readonly step: 'answer'; readonly answer: PlaneAnswer; readonly closeOnNextRequest: boolean }
  | { readonly step: 'head'; readonly status: number; readonly headers: PlaneAnswer['headers'] }
  | { readonly step: 'send'; readonly text: string }
  /** The end of a response that was sent in pieces. */
  | { readonly step: 'end' }
  /** The same text again and again, as fast as the client reads it, until it closes. */
  | { readonly step: 'flood'; readonly text: string }
  /** Nothing more is sent, and the connection stays open. */
  | { readonly step: 'hang' }
  | { readonly step: 'cut'; readonly by: CutBy };

/** The answer is undefined if nothing was carried out and the fault has no response of its own. */
export function wireScript(fault: Fault | undefined, answer: PlaneAnswer | undefined): readonly WireStep[] {
  if (fault?.kind === 'cut-before-headers') return [{ step: 'cut', by: fault.by ?? 'close' }];
  if (fault?.kind === 'hang-before-headers' || !answer) return [{ step: 'hang' }];
  const { body } = answer;
  const firstHalf: WireStep = { step: 'send', text: body.slice(0, Math.floor(body.length / 2)) };
  switch (fault?.kind) {
    case undefined:
    case 'status':
    case 'html':
    case 'redirect':
      return [whole(answer)];
    case 'delay':
      return [{ step: 'wait', ms: fault.ms }, whole(answer)];
    case 'hang-mid-body':
      return [head(answer, 'length'), firstHalf, { step: 'hang' }];
    case 'cut-mid-body':
      return [head(answer, fault.framing ?? 'length'), firstHalf, { step: 'cut', by: fault.by ?? 'close' }];
    case 'drip':
      return [head(answer, 'length'), ...drip(body, fault.intervalMs), { step: 'end' }];
    case 'endless-body':
      return [head(answer, 'chunked'), firstHalf, { step: 'flood', text: filler }];
    case 'bad-json':
      // Only the last character is wrong: a parser's message then quotes the end of the body, which may be a key.
      return [whole({ ...answer, body: `${body.slice(0, -1)}<` })];
    case 'empty-body':
      return [whole({ ...answer, body: '' })];
    case 'partial-list':
      return [whole(halfOf(answer, fault.announcedBy))];
    case 'close-on-next-request':
      return [{ ...whole(answer), closeOnNextRequest: true }];
  }
}

/** After spaces, the beginning is still valid JSON. */
const filler = ' '.repeat(65_536);

function whole(answer: PlaneAnswer) {
  // A 204 has neither a body nor its length: Node 20.5 would wait for one that is announced.
  const framing = answer.status === 204 ? {} : framingHeader(answer.body, 'length');
  const headers = { ...answer.headers, ...framing };
  return { step: 'answer', answer: { ...answer, headers }, closeOnNextRequest: false } as const;
}

/** Of a list, its newer half. */
function halfOf(answer: PlaneAnswer, announcedBy: 'link' | 'next_cursor' | 'unavailable_project_ids'): PlaneAnswer {
  const [, name = ''] = /^\{"(operations|projects)":\[/.exec(answer.body) ?? [];
  if (name === '') return answer;
  const { [name]: records } = JSON.parse(answer.body);
  const list = { [name]: records.slice(0, records.length >> 1), pagination: {} };
  if (announcedBy === 'link')
    return { ...answer, headers: { ...answer.headers, link: '<?page=2>; rel="next"' }, body: JSON.stringify(list) };
  const more =
    announcedBy === 'next_cursor' ? 'more' : records.slice(records.length >> 1).map(({ id }: { id: string }) => id);
  return { ...answer, body: JSON.stringify({ ...list, [announcedBy]: more }) };
}

function head({ status, headers, body }: PlaneAnswer, framing: Framing): WireStep {
  return { step: 'head', status, headers: { ...headers, ...framingHeader(body, framing) } };
}

function framingHeader(body: string, framing: Framing): PlaneAnswer['headers'] {
  return framing === 'chunked'
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': String(Buffer.byteLength(body)) };
}

function drip(text: string, ms: number): WireStep[] {
  return Array.from(text).flatMap((character) => [
    { step: 'wait', ms },
    { step: 'send', text: character },
  ]);
}
