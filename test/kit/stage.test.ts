import { expect, test } from 'vitest';
import { plays, seenOf } from './plays.js';
import { setStage } from './stage.js';

test.concurrent.for(Object.entries(plays))(
  'in virtual time, %s has the same log, outputs and requests as over sockets, and shows text only as text',
  async ([, play], context) => {
    const overSockets = await setStage(context, { overSockets: true });
    const seen = await seenOf(await setStage(context), play);
    expect(seen).toEqual(await seenOf(overSockets, play));
    expect(seen).toMatchObject({ defects: [] });
  },
);
