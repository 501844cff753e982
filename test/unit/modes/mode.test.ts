import { expectTypeOf, test } from 'vitest';
import { listOperations, listProjects } from '../../../src/modes/list/list.js';
import { listOperationsReport, listProjectsReport } from '../../../src/modes/list/report.js';
import { readListKeysSettings, readListProjectsSettings } from '../../../src/modes/list/settings.js';
import type { Mode } from '../../../src/modes/mode.js';
import { revokeKeyReport } from '../../../src/modes/revoke-key/report.js';
import { revokeKeys } from '../../../src/modes/revoke-key/revoke-key.js';
import { waitReport } from '../../../src/modes/wait-operation/report.js';

type Fits<M> = M extends Mode<infer _Settings, infer _Result> ? true : false;

function parts<Read, Run, Report>(readSettings: Read, run: Run, report: Report) {
  return { readSettings, run, report };
}

// The compiler checks these expectations: `tsc` fails if one is wrong.
test('the compiler rejects a mode whose settings, run and report do not fit together', () => {
  const fitting = parts(readListProjectsSettings, listProjects, listProjectsReport);
  const withoutProject = parts(readListProjectsSettings, listOperations, listOperationsReport);
  const withReportOfWait = parts(readListProjectsSettings, listProjects, waitReport);
  const withoutMaxBatches = parts(readListKeysSettings, listProjects, listProjectsReport);
  const withoutIdsOrName = parts(readListKeysSettings, revokeKeys, revokeKeyReport);
  expectTypeOf<Fits<typeof fitting>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<typeof withoutProject>>().toEqualTypeOf<false>();
  expectTypeOf<Fits<typeof withReportOfWait>>().toEqualTypeOf<false>();
  expectTypeOf<Fits<typeof withoutMaxBatches>>().toEqualTypeOf<false>();
  expectTypeOf<Fits<typeof withoutIdsOrName>>().toEqualTypeOf<false>();
});
