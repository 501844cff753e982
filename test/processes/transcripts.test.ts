import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { startGitHub } from '../../control-plane/github/index.js';
import { preload } from '../kit/preload.js';
import { maskedForms } from '../kit/secrets-shown.js';
import { repositoryId, setProcess } from '../kit/stage.js';
import type { StepOptions, StepResult } from '../runner/step.js';
import { transcriptOf } from './transcript.js';

// Whole runs: secrets are masked before anything can print them, state is saved before a request is sent, and the status is
// written last. Each is written by hand from the promises; users can see every change here.

const token = 'the-token-of-this-job';
/** As `maskedForms` orders them. */
const encodings = ['hex', 'HEX', 'base64url', 'base64url, with Bearer'].map((form) => `<minted key in ${form}>`);
const masks = ['<minted key>', ...encodings].map((value) => `mask     ${value}`).join('\n');

test.concurrent('wait-operation logs each change of an operation, and writes its status after its other outputs and its report', async (context) => {
  const { plane, service, start, expectTranscript } = await setTranscriptStage(context);
  const operation = plane.startOperation({ branchId: 'br-main', schedulingMs: 0, lengthMs: Number.POSITIVE_INFINITY });
  const inputs = { 'project-id': 'shop-db', 'operation-id': operation.id, 'poll-interval': '100ms' };
  const step = start('wait-operation', inputs);
  await service.ended({ endpoint: 'get-operation' });
  plane.endOperation(operation);
  expectTranscript(await step.done)`
    mask     <parent key>
    state    key = nothing-to-revoke
    log      <time>  Waiting for 1 operation in project shop-db (timeout 10m).
    request  GET /v2/projects/shop-db/operations/<uuid>, Bearer <parent key>
    status   200
    log      <time>  create_branch on br-main [<uuid>]: running, created <time> ago
    request  GET /v2/projects/shop-db/operations/<uuid>, Bearer <parent key>
    status   200
    log      <time>  create_branch on br-main [<uuid>]: running → finished after <time>
    output   duration-ms = <ms>
    output   result-file = <temp>/ctl-wait-operation-<uuid>.json
    output   count = 1
    output   operation-id = <uuid>
    output   operation-ids = ["<uuid>"]
    output   operations = <records>
    log      1 operation finished.
    summary  ### ✅ wait-operation: 1 operation finished
    output   status = finished
    exit     0
  `;
});

test.concurrent('list-operations reads all pages, and writes its outputs before the error of fail-on: match', async (context) => {
  const { plane, run, expectTranscript } = await setTranscriptStage(context);
  plane.startOperation({ lengthMs: 0, outcome: 'failed' });
  plane.startOperation({ lengthMs: 0 });
  const inputs = { 'project-id': 'shop-db', filter: 'status=failed', 'fail-on': 'match' };
  expectTranscript(await run('list-operations', inputs))`
    mask     <parent key>
    state    key = nothing-to-revoke
    request  GET /v2/projects/shop-db/operations?limit=100, Bearer <parent key>
    status   200
    request  GET /v2/projects/shop-db/operations?limit=100&cursor=<cursor>, Bearer <parent key>
    status   200
    output   duration-ms = <ms>
    output   result-file = <temp>/ctl-list-operations-<uuid>.json
    output   count = 1
    output   operation-id = <uuid>
    output   operation-ids = ["<uuid>"]
    output   operations = <records>
    error    Found 1 operation in project shop-db: <uuid> (create_branch). With “fail-on: match”, this fails the step. The result file (the output result-file has its path) lists them.
    summary  ### ❌ list-operations: 1 operation
    output   status = match
    exit     1
  `;
});

test.concurrent('create-key saves the key name before its request, and masks and saves the key before its outputs', async (context) => {
  const { run, runPost, expectTranscript } = await setTranscriptStage(context);
  const main = await run('create-key', { 'export-env': 'DB_API_KEY' });
  const post = await runPost(main);
  const known = '"baseUrl":"<base-url>","since":<ms>,"onFailure":"warn","summary":true';
  const name = 'shop-run9876543210-1-<seal>';
  expectTranscript(main, post)`
    mask     <parent key>
    state    key = nothing-to-revoke
    mask     <hmac>
    state    key = <hmac>{${known},"name":"${name}","openCreates":1,"foundKeyIds":[],"unconfirmedKeyIds":[],"revoke":true}
    request  POST /v2/api_keys, Bearer <parent key>, {"key_name":"${name}"}
    status   200
    ${masks}
    mask     <hmac>
    state    key = <hmac>{${known},"name":"${name}","openCreates":0,"foundKeyIds":[],"unconfirmedKeyIds":[],"minted":{"id":"2","secret":"<minted key>"},"revoke":true}
    output   duration-ms = <ms>
    output   key = <minted key>
    output   key-id = 2
    output   key-name = ${name}
    env      DB_API_KEY = <minted key>
    log      Created key 2 (${name}), valid until the end of this job.
    summary  ### ✅ create-key: Created key 2 (${name}), valid until the end of this job
    output   status = ok
    exit     0

    ${masks}
    mask     <parent key>
    request  DELETE /v2/api_keys/2, Bearer <minted key>
    status   200
    log      Key 2 was revoked, <time> after it was created.
    summary  ### ✅ create-key: Key 2 was revoked, <time> after it was created
    exit     0
  `;
});

test.concurrent('sweep-keys looks up each run at GitHub, and revokes only the key of the completed run', async (context) => {
  const { plane, github, addKey, run, expectTranscript } = await setTranscriptStage(context);
  github.addRun({ id: '9876543210' });
  github.addRun({ id: '9876543209', status: 'completed' });
  addKey('9876543209');
  addKey('9876543210');
  plane.addKey('made by hand');
  expectTranscript(await run('sweep-keys'))`
    mask     <parent key>
    state    key = nothing-to-revoke
    mask     <token>
    request  GET /v2/api_keys, Bearer <parent key>
    status   200
    request  GET /repos/acme/shop/actions/runs/9876543210, token <token>
    status   200
    request  GET /repos/acme/shop/actions/runs/9876543209, token <token>
    status   200
    request  GET /v2/api_keys, Bearer <parent key>
    status   200
    request  DELETE /v2/api_keys/2, Bearer <parent key>
    status   200
    log      Key 2 was revoked.
    output   duration-ms = <ms>
    output   result-file = <temp>/ctl-sweep-keys-<uuid>.json
    output   count = 1
    output   revoked-key-ids = ["2"]
    output   kept-key-ids = ["3"]
    log      1 revoked, 1 kept.
    summary  ### ✅ sweep-keys: 1 revoked, 1 kept
    output   status = ok
    exit     0
  `;
});

/** An account with the project shop-db and one key, a GitHub, and a witness in every step. */
async function setTranscriptStage(context: TestContext) {
  const stage = await setProcess(context, { projects: 0, operations: 0 });
  const { plane, apiKey, baseUrl, requests } = stage.service;
  plane.addProject({ id: 'shop-db' });
  const github = await startGitHub({ token, repository: 'acme/shop', repositoryId });
  context.onTestFinished(() => github.close());
  const options = { nodeArgs: preload('witness'), token, env: { GITHUB_API_URL: github.url } };
  const start = (mode: string, inputs?: StepOptions['inputs']) => stage.startMode(mode, inputs, options);
  return {
    ...stage,
    plane,
    github,
    start,
    run: (mode: string, inputs?: StepOptions['inputs']) => start(mode, inputs).done,
    /** Expects that the steps of a job send, print and write what the template says, in this order. */
    expectTranscript: (...steps: StepResult[]) => {
      const minted = steps[0]?.outputs['key'] ?? 'no minted key';
      const placeholders = {
        [apiKey]: '<parent key>',
        [token]: '<token>',
        [baseUrl]: '<base-url>',
        [minted]: '<minted key>',
        ...Object.fromEntries(maskedForms(minted).map((form, n) => [form, encodings[n] ?? ''])),
        ...Object.fromEntries(steps.map(({ job }) => [join(job.temp, '/'), '<temp>/'])),
      };
      const received = { [baseUrl]: requests, [github.url]: github.requests };
      return (strings: TemplateStringsArray, ...values: string[]) => {
        const expected = String.raw(strings, ...values).trim();
        expect(transcriptOf(steps, received, placeholders)).toBe(expected.replaceAll(/\n +/g, '\n'));
      };
    },
  };
}
