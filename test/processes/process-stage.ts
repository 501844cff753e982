import type { TestContext } from 'vitest';
import { type Stage, type StageOptions, setStage } from '../kit/stage.js';

/** For steps that need no operation that exists. */
export const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };

/** A stage whose steps are processes. */
export function setProcess(context: TestContext, options?: Omit<StageOptions, 'overSockets'>): Promise<Stage> {
  return setStage(context, { overSockets: true, ...options });
}
