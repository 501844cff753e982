import { expect, it } from 'vitest';
import { listOperations } from '../../../src/modes/list/operations.js';
import { listProjects } from '../../../src/modes/list/projects.js';
import { listOperationsReport, listProjectsReport } from '../../../src/modes/list/report.js';
import { readListKeysSettings, readListProjectsSettings } from '../../../src/modes/list/settings.js';
import { define } from '../../../src/modes/mode.js';
import { revokeKeyReport } from '../../../src/modes/revoke-key/report.js';
import { revokeKeys } from '../../../src/modes/revoke-key/revoke-key.js';
import { waitReport } from '../../../src/modes/wait-operation/report.js';

it('the compiler accepts no mode whose settings, run and report do not fit together', () => {
  const misfits = [
    // @ts-expect-error: listOperations needs a project.
    define({ readSettings: readListProjectsSettings, run: listOperations, report: listOperationsReport }),
    // @ts-expect-error: a report of a wait needs the result of a wait.
    define({ readSettings: readListProjectsSettings, run: listProjects, report: waitReport }),
    // @ts-expect-error: the report needs max-batches, which these settings lack.
    define({ readSettings: readListKeysSettings, run: listProjects, report: listProjectsReport }),
    // @ts-expect-error: revokeKeys needs ids or a name.
    define({ readSettings: readListKeysSettings, run: revokeKeys, report: revokeKeyReport }),
  ];
  expect(misfits).toHaveLength(4);
});
