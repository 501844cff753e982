import { expect, test } from 'vitest';
import { renderSummary } from '../../../src/action/publish.js';
import { Secrets } from '../../../src/action/secrets.js';

test.each(['key-that-ends.', '(key)and<more>', 'key`with`ticks'])(
  'the secret %s is redacted in a summary, although its words would stand in several tags',
  (secret) => {
    const secrets = new Secrets(() => undefined);
    secrets.add(secret);
    const failed = { status: 'error', succeeded: false, headline: 'Failed' };
    const report = { ...failed, error: `No ${secret} here`, warnings: [secret] };
    const summary = renderSummary(report, 'list-keys', (text) => secrets.redact(text));
    expect(summary).toBe('### ❌ list-keys: Failed\n\n<p>No <code>***</code> here</p>\n<p><code>***</code></p>\n\n');
  },
);
