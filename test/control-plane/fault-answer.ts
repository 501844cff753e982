import type { Service } from './exchanges.js';
import type { Done, Fault, RetryAfter } from './faults.js';
import type { PlaneAnswer } from './plane.js';
import { httpDate } from './timestamp.js';

export function whenDone(fault: Fault | undefined): Done {
  switch (fault?.kind) {
    case 'hang-before-headers':
    case 'cut-before-headers':
      return fault.done ?? 'now';
    case 'status':
    case 'html':
    case 'redirect':
      return fault.done ?? 'never';
    default:
      return 'now';
  }
}

/** What a fault says in place of the API, if it does. */
export function replacingAnswer(fault: Fault | undefined, service: Service): PlaneAnswer | undefined {
  switch (fault?.kind) {
    case 'status': {
      const headers = { ...retryAfterHeader(fault.retryAfter, service.clock.now()), ...fault.headers };
      const answer = service.errorAnswer(fault.status, 'FAULT', `The service says ${fault.status}.`, headers);
      return fault.body === undefined ? answer : { ...answer, body: fault.body };
    }
    case 'html': {
      const headers = { ...service.commonHeaders(), 'content-type': 'text/html; charset=utf-8' };
      return { status: fault.status ?? 200, headers, body: fault.body ?? signInPage };
    }
    case 'redirect': {
      const headers = { ...service.commonHeaders(), location: fault.location };
      return { status: fault.status ?? 302, headers, body: '' };
    }
    default:
      return undefined;
  }
}

const signInPage = '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';

function retryAfterHeader(retryAfter: RetryAfter | undefined, now: number): PlaneAnswer['headers'] {
  if (!retryAfter) return {};
  if ('seconds' in retryAfter) return { 'retry-after': String(retryAfter.seconds) };
  return { 'retry-after': httpDate(now + retryAfter.dateInSeconds * 1000) };
}
