import { expectTypeOf, it } from 'vitest';
import { listOperations, listProjects } from '../../../src/modes/list/list.js';
import { listOperationsReport, listProjectsReport } from '../../../src/modes/list/report.js';
import {
  readListKeysSettings,
  readListOperationsSettings,
  readListProjectsSettings,
} from '../../../src/modes/list/settings.js';
import type { Mode } from '../../../src/modes/mode.js';
import { revokeKeyReport } from '../../../src/modes/revoke-key/report.js';
import { revokeKeys } from '../../../src/modes/revoke-key/revoke-key.js';
import { readRevokeKeySettings } from '../../../src/modes/revoke-key/settings.js';
import { waitReport } from '../../../src/modes/wait-operation/report.js';

type Fits<M> = M extends Mode<infer _Settings, infer _Result> ? true : false;

function parts<Read, Run, Report>(readSettings: Read, run: Run, report: Report) {
  return { readSettings, run, report };
}

// The compiler checks these expectations: `tsc` fails where one is wrong.
it('the compiler accepts a mode whose settings, run and report fit together', () => {
  const operations = parts(readListOperationsSettings, listOperations, listOperationsReport);
  const projects = parts(readListProjectsSettings, listProjects, listProjectsReport);
  const revocation = parts(readRevokeKeySettings, revokeKeys, revokeKeyReport);
  expectTypeOf<Fits<typeof operations>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<typeof projects>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<typeof revocation>>().toEqualTypeOf<true>();
});

it('the compiler accepts no mode whose settings, run and report do not fit together', () => {
  const withoutProject = parts(readListProjectsSettings, listOperations, listOperationsReport);
  const withReportOfWait = parts(readListProjectsSettings, listProjects, waitReport);
  const withoutMaxBatches = parts(readListKeysSettings, listProjects, listProjectsReport);
  const withoutIdsOrName = parts(readListKeysSettings, revokeKeys, revokeKeyReport);
  expectTypeOf<Fits<typeof withoutProject>>().toEqualTypeOf<false>();
  expectTypeOf<Fits<typeof withReportOfWait>>().toEqualTypeOf<false>();
  expectTypeOf<Fits<typeof withoutMaxBatches>>().toEqualTypeOf<false>();
  expectTypeOf<Fits<typeof withoutIdsOrName>>().toEqualTypeOf<false>();
});
