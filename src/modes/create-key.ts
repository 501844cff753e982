import { failureReport } from '../action/failure-report.js';
import type { InputReader } from '../action/inputs/input-reader.js';
import { oneOfParser, parseBoolean } from '../action/inputs/input-values.js';
import type { StepReport } from '../action/step-report.js';
import { RequestError, UserError } from '../http/errors.js';
import { type Attempt, withRetries } from '../http/retry.js';
import { currentRun, makeKeyName, parseKeyName } from '../keys/key-name.js';
import { type MintedKey, onFailureValues } from '../keys/post-state.js';
import { type Collaborators, define, type ReportFacts, type Services } from './mode.js';

const maxLostCreates = 3;

type Settings = ReturnType<typeof read>;
type Result = Awaited<ReturnType<typeof run>>;

function read(reader: InputReader) {
  // Without these files, the toolkit prints state and outputs as log commands, which would reveal the key.
  for (const name of ['GITHUB_STATE', 'GITHUB_OUTPUT'])
    if (!reader.environment[name]) reader.rejectVariable(name, 'is empty; expected the path that the runner sets');
  reader.rejectNodeDebug();
  return reader.complete({
    run: currentRun(reader.environment),
    repositoryName: reader.environment['GITHUB_REPOSITORY']?.split('/')[1] ?? '',
    revokeInPost: reader.parse('revoke-in-post', parseBoolean),
    onFailure: reader.parse('on-revoke-failure', oneOfParser(onFailureValues)),
  });
}

/** A create is lost if it may have made a key, but no usable response came. Only post looks for such a key. */
async function run(settings: Settings, collaborators: Collaborators, services: Services) {
  const { repositoryName, run, revokeInPost, onFailure } = settings;
  const { api, deadline, random } = collaborators;
  const { clock } = deadline;
  const name = makeKeyName(repositoryName, { run, isKept: !revokeInPost }, random);
  if (parseKeyName(name) === undefined)
    throw new UserError(
      'Made no key: GITHUB_RUN_ID or GITHUB_RUN_ATTEMPT is not a number. Check which step changes it.',
    );
  let lostCreates = 0;
  const save = (lost: number, minted?: MintedKey) =>
    services.savePostState({ name, lostCreates: lost, minted, onFailure });

  async function attempt(how: Attempt) {
    const before = lostCreates;
    // This create counts as lost until its response is here, because the process may be killed meanwhile.
    const onSend = () => {
      lostCreates = before + 1;
      save(lostCreates);
    };
    try {
      const key = await api.createKey(name, { ...how, onSend });
      const minted = { ...key, madeAt: { runner: clock.epochMs(), service: api.knownServiceEpochMs(clock) } };
      save(before, minted);
      lostCreates = before;
      return minted;
    } catch (error) {
      if (error instanceof RequestError && !error.mayHaveTakenEffect) lostCreates = before;
      save(lostCreates);
      if (lostCreates === before || !(error instanceof RequestError)) throw error;
      throw new RequestError(error.message, { ...error, transient: lostCreates < maxLostCreates, cause: error });
    }
  }

  return withRetries(collaborators)(attempt).then(
    (minted) => ({ name, lostCreates, minted }),
    (failure: unknown) => ({ name, lostCreates, minted: undefined, failure }),
  );
}

function report(result: Result, { revokeInPost }: Settings, { timeout }: ReportFacts): StepReport {
  const { name, lostCreates } = result;
  const outputs = { 'key-id': result.minted?.id ?? '', 'key-name': name };
  const secretOutputs = { key: result.minted?.secret ?? '' };
  if (result.minted !== undefined) {
    const until = revokeInPost ? 'the end of this job' : 'it is revoked';
    const headline = `Created key ${result.minted.id} (${name}), valid until ${until}`;
    return { status: 'ok', succeeded: true, headline, outputs, secretOutputs };
  }
  const failure = failureReport(result.failure, timeout);
  const mayExist = `A key named ${name} may exist. The post step looks for it and revokes it.`;
  const whatRemains = lostCreates > 0 ? mayExist : 'No key was created.';
  return { ...failure, error: failure.error && `${failure.error} ${whatRemains}`, outputs, secretOutputs };
}

/** Until this state is saved, post revokes the key even with `revoke-in-post: false`, because no later step has the key. */
function stateAfterOutputs({ minted, name, lostCreates }: Result, { revokeInPost, onFailure }: Settings) {
  if (minted === undefined || revokeInPost) return undefined;
  return { name, lostCreates, minted: { ...minted, secret: '' }, onFailure };
}

export const createKeyMode = define({ read, run, report, stateAfterOutputs });
