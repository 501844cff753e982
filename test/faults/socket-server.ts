import { basePath, type Reception, type WireStep } from '../../control-plane/index.js';
import type { PlaneRequest } from '../../control-plane/plane.js';
import { startServer } from '../../control-plane/server.js';
import type { SentRequest } from '../simulation/record.js';
import type { Listener, Stage } from '../simulation/stage.js';

/** Serves the stage's control plane to one step, and records each exchange as the client sees it. */
export async function serve(stage: Stage, listener: () => Listener | undefined) {
  /** `lost`: why the service does not carry the request out. */
  const begin = (request: PlaneRequest, lost: 'closed-on-arrival' | 'outage' | undefined) => {
    const { method, target, headers, body } = request;
    const authorization = headers['authorization'] ?? '';
    const url = new URL(target, stage.origin);
    const sent = stage.record({ method: method as 'GET', url, headers: { authorization }, body });
    const reception = lost === undefined ? stage.exchanges.receive(request) : undefined;
    if (lost !== undefined) stage.exchanges.receiveInVain(request);
    const exchange = stage.exchanges.log.exchanges.at(-1) as Reception['exchange'];
    sent.arrived = exchange;
    sent.fault = lost ?? exchange.fault;
    const script = (reception?.script ?? [{ step: 'hang' } as const]).map((step) => withAlteredText(stage, step, sent));
    listener()?.onRequest(sent);
    return { sent, exchange, reception, script };
  };
  const receiveInVain = (request: PlaneRequest): void => {
    const { sent } = begin(request, 'closed-on-arrival');
    sent.endedAt = stage.now;
    sent.error = 'The connection was closed';
    listener()?.onEnd();
  };
  const receive = (request: PlaneRequest): Reception => {
    const { sent, exchange, reception, script } = begin(request, stage.currentOutage() && 'outage');
    let status: number | undefined;
    const headSent = (sentStatus: number) => {
      status = sentStatus;
      reception?.headSent(sentStatus);
    };
    const over = () => {
      if (sent.endedAt !== undefined) return;
      reception?.over();
      sent.endedAt = stage.now;
      sent.response = status === undefined ? undefined : wholeResponse(script);
      // As the client words it, for the invariants.
      const error =
        sent.fault === 'endless-body' ? 'The response is larger than the maximum' : 'The exchange was given up';
      sent.error = sent.response === undefined ? error : undefined;
      listener()?.onEnd();
    };
    return { exchange, script, headSent, over };
  };
  const { origin, close } = await startServer({ receive, receiveInVain }, stage.clock.service);
  return { baseUrl: `${origin}${basePath}`, close };
}

function withAlteredText(stage: Stage, step: WireStep, sent: SentRequest): WireStep {
  if (step.step !== 'answer') return step;
  const answer = stage.alter(step.answer, sent);
  const length = String(Buffer.byteLength(answer.body));
  const headers = 'content-length' in answer.headers ? { ...answer.headers, 'content-length': length } : answer.headers;
  return { ...step, answer: { ...answer, headers } };
}

/** A client that is there until the end gets this response, if it is a whole one. */
function wholeResponse(script: readonly WireStep[]): SentRequest['response'] {
  const head = script.find((step) => step.step === 'answer' || step.step === 'head');
  if (head?.step === 'answer') return head.answer;
  if (head?.step !== 'head' || script.at(-1)?.step !== 'end') return undefined;
  const body = script.map((step) => (step.step === 'send' ? step.text : '')).join('');
  return { status: head.status, headers: head.headers, body };
}
