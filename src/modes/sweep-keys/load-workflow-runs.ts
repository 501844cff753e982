import { proxyProblem } from '../../http/proxy.js';
import type { WorkflowRuns } from './run-lookups.js';

/** Loads a separate bundle: it is large, and only one mode needs it. */
export async function loadWorkflowRuns(): Promise<typeof import('./workflow-runs.js').workflowRuns> {
  const problem = proxyProblem(new URL(process.env['GITHUB_API_URL'] || 'https://api.github.com'));
  // octokit would ignore such a proxy, or print its password.
  if (problem !== undefined) return () => withoutRequests(problem);
  return (await import('./workflow-runs.js')).workflowRuns;
}

function withoutRequests(problem: string): WorkflowRuns {
  return { find: async () => ({ failure: { message: `GitHub was not asked because ${problem}`, transient: false } }) };
}
