import { proxyProblem } from '../http/proxy.js';
import type { WorkflowRuns } from '../modes/keys/run-lookups.js';

/** A chunk of its own: large, and needed by one mode alone. */
export async function loadWorkflowRuns(): Promise<typeof import('./workflow-runs.js').workflowRuns> {
  const problem = proxyProblem(new URL(process.env['GITHUB_API_URL'] || 'https://api.github.com'));
  // octokit would go past such a proxy, or quote its password.
  if (problem !== undefined) return () => notAsked(problem);
  return (await import('./workflow-runs.js')).workflowRuns;
}

function notAsked(problem: string): WorkflowRuns {
  return { look: async () => ({ unseen: { message: `GitHub was not asked, as ${problem}`, transient: false } }) };
}
