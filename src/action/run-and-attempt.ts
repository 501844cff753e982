/** The run of the workflow with its attempt. The runner sets these variables for every step; no step can change them for another. */
export function runAndAttempt({
  GITHUB_RUN_ID: run = '',
  GITHUB_RUN_ATTEMPT: attempt = '',
}: Readonly<Record<string, string | undefined>>): string {
  return `${run}/${attempt}`;
}
