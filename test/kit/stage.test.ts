import { expect, test } from 'vitest';
import { attacks } from './hostile-values.js';
import { type Stage, setStage } from './stage.js';
import { defectsOf } from './text-defects.js';
import { failsIn, forever } from './wait.js';

/** Valid UTF-16, because HTTP carries UTF-8, and short, so that all of it fits into an output. */
const texts = Object.values(attacks).flatMap((text) => (text.length < 1_000 ? text.replace(/\p{Cs}/gu, '') : []));

type Play = (stage: Stage) => ReturnType<Stage['run']>;

const plays: Readonly<Record<string, Play>> = {
  'wait-operation with a failed operation': ({ operation, run }) => run({ 'operation-id': operation(failsIn(0)).id }),
  'wait-operation with operations of hostile text': ({ operation, run }) => {
    for (const [n, text] of texts.entries()) {
      const fields = { action: text, branch_id: text, [text]: text };
      operation({ ...failsIn(0), ageMs: n * 1_000, fields });
      operation({ ...forever, ageMs: n * 1_000, fields: { status: text } });
    }
    return run({ 'operation-id': 'all', since: '1h', timeout: '0' }, { debug: true });
  },
  'wait-operation with invalid inputs': ({ run }) => run({ 'operation-id': '', 'poll-interval': 'often' }),
  'list-projects': ({ runMode }) => runMode('list-projects'),
  'list-keys': ({ runMode }) => runMode('list-keys'),
  'sweep-keys without a key to revoke': ({ runMode }) => runMode('sweep-keys'),
  'create-key with its post step': async ({ runMode, runPost }) => runPost(await runMode('create-key')),
};

/** What a play shows, without what differs in each run: times, paths, random names, and the address of the service. */
async function seenOf(stage: Stage, play: Play): Promise<object> {
  const result = await play(stage);
  const { conclusion, exitCode, log, outputs, summary, masks } = result;
  // How often post repeats a DELETE depends on the fraction of a second in which it begins.
  const requests = new Set(stage.service.requests.map((one) => [one.method, one.path, one.status, one.keyId].join()));
  const seen = { conclusion, exitCode, log, outputs, summary, masks, requests: [...requests] };
  return JSON.parse(
    // `defectsOf` also looks at debug lines, which the log does not have.
    JSON.stringify({ ...seen, defects: defectsOf(result) })
      .replaceAll(stage.service.baseUrl, 'BASE_URL')
      .replaceAll(/\\"(created|updated)_at\\":\\"[^"]+"/g, 'TIME')
      .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d(:|%3A)\d\d\1\d\d[^\s"<\\]*/g, 'TIME')
      .replaceAll(/[\w-]*-run\d+-1-\w+-\w+/g, 'KEY_NAME')
      .replaceAll(/[^"\s]*[\\/]temp[\\/]+ctl-[\w-]+\.json/g, 'RESULT_FILE')
      .replaceAll(/ *\b(?:\d+(?:\.\d+)? ?(?:ms|[smh])\b ?)+/g, ' DURATION')
      .replaceAll(/(?<=total_duration_ms\\":)\d+/g, 'NUMBER')
      .replaceAll(/127\.0\.0\.1|192\.0\.2\.1/g, 'ADDRESS'),
  );
}

test.concurrent.for(Object.entries(plays))(
  '%s does the same in virtual time as over sockets, and shows text only as plain text',
  async ([, play], context) => {
    const seen = await seenOf(await setStage(context), play);
    expect(seen).toEqual(await seenOf(await setStage(context, { overSockets: true }), play));
    expect(seen).toMatchObject({ defects: [] });
  },
);
