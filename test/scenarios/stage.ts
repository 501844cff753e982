import type { TestContext } from 'vitest';
import { type Stage, type StageOptions, setStage as setStageOfKit } from '../kit/stage.js';

export { errorOf, noticesOf, type Stage, warningsOf, withoutMasks } from '../kit/stage.js';

/** A stage whose steps are processes that talk over sockets. */
export function setStage(context: TestContext, options: StageOptions = {}): Promise<Stage> {
  return setStageOfKit(context, { overSockets: true, ...options });
}
