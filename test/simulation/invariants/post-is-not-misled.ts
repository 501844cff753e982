import { forgeryIn, type Run, type StepRecord } from '../record.js';

/**
 * Main saves a state before it sends or says anything but masks, so that post takes none that another step forges. Where main
 * was killed before that, a forged state gets no more than its own key sent, to an address that main would accept: never the
 * parent key.
 */
export function postIsNotMisled(run: Run): string[] {
  return run.steps.flatMap((step) => [...unsaved(step), ...misled(step, run.stage.plane.apiKey)]);
}

function unsaved({ main }: StepRecord): string[] {
  const first = main.words.find(({ kind }) => kind !== 'mask');
  if (first?.kind === 'state') return [];
  if (main.sent.length > 0) return ['a request was sent before a state was saved'];
  return first === undefined || main.runnerFailed ? [] : [`${first.kind} was said before a state was saved`];
}

function misled(step: StepRecord, parent: string): string[] {
  const forgery = forgeryIn(step);
  if (forgery === undefined || step.post === undefined) return [];
  const { secret, mayBeSentTo } = forgery;
  const astray = step.post.sent.filter(
    ({ authorization, origin, path }) =>
      secret === undefined ||
      authorization !== `Bearer ${secret}` ||
      origin !== mayBeSentTo ||
      !/^\/v2\/+api_keys(\/\d+)?$/.test(path),
  );
  const masked = step.post.words.some(({ kind, text }) => kind === 'mask' && text === parent);
  return [
    ...astray.map(({ origin, path, authorization }) => {
      const whose = authorization.includes(parent) ? 'the parent key' : 'a key';
      return `a forged state had ${whose} sent to ${origin}${path}`;
    }),
    ...(masked ? ['a forged state had the parent key masked, which may be the secret of another step'] : []),
  ];
}
