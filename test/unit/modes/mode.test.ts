import { test } from 'vitest';
import { listOperations, listProjects } from '../../../src/modes/list/list.js';
import { listOperationsReport, listProjectsReport } from '../../../src/modes/list/report.js';
import { readListKeysSettings, readListProjectsSettings } from '../../../src/modes/list/settings.js';
import { define } from '../../../src/modes/mode.js';
import { revokeKeyReport } from '../../../src/modes/revoke-key/report.js';
import { revokeKeys } from '../../../src/modes/revoke-key/revoke-key.js';
import { waitReport } from '../../../src/modes/wait-operation/report.js';

// `tsc` checks this test: it fails where a line has an error that is not expected, or an expected one is missing.
test('the compiler rejects a mode whose settings, run and report do not fit together', () => {
  define({ readSettings: readListProjectsSettings, run: listProjects, report: listProjectsReport });
  // @ts-expect-error: the settings have no project
  define({ readSettings: readListProjectsSettings, run: listOperations, report: listOperationsReport });
  // @ts-expect-error: the report is that of a wait
  define({ readSettings: readListProjectsSettings, run: listProjects, report: waitReport });
  // @ts-expect-error: the settings have no maximum of batches
  define({ readSettings: readListKeysSettings, run: listProjects, report: listProjectsReport });
  // @ts-expect-error: the settings have neither ids nor a name
  define({ readSettings: readListKeysSettings, run: revokeKeys, report: revokeKeyReport });
});
